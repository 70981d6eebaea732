import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectStdio, type Ready, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { pdfWithPages } from "../support/readable-files.ts";
import { GOOD } from "../support/uploads.ts";
import { verifies } from "../support/verifies.ts";

type Json = Record<string, unknown>;
type Answer = {
  isError?: boolean;
  structuredContent?: Json;
  _meta?: Json;
  content: { type: string; text?: string; resource?: { blob?: string } }[];
};

describe("files of the demo tenant over stdio", () => {
  const folder = useFolder();
  let host: Client;
  let disputeId: string;

  beforeAll(async () => {
    await mkdir(join(folder, "outbox"));
    await writeFile(join(folder, "outbox", "scan.pdf"), GOOD[".pdf"]);
    await writeFile(join(folder, "private.txt"), "private");
    host = new Client(
      { name: "test", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
    );
    host.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: { confirm: true },
    }));
    const env = {
      PATH: process.env["PATH"] ?? "",
      RECEIVABLES_DATA: join(folder, "data"),
      RECEIVABLES_UPLOAD_FOLDERS: join(folder, "outbox"),
    };
    await connectStdio(env, { client: host });
    const listed = await call("disputes_list", { Status: [0], PageSize: 1 });
    const { items } = listed.structuredContent as { items: { disputeId: string }[] };
    disputeId = items[0]?.disputeId ?? "";
  });
  afterAll(() => host?.close());

  const call = async (name: string, args: Json): Promise<Answer> =>
    (await host.callTool({ name, arguments: args })) as unknown as Answer;

  const done = async (name: string, args: Json): Promise<Json> => {
    const { isError, content, structuredContent } = await call(name, args);
    expect(isError ?? false, content[0]?.text).toBe(false);
    return structuredContent ?? {};
  };

  verifies("AT-04", "AT-05");
  it("are uploaded as text, scanned, listed, read and deleted", async () => {
    const steps: (string | undefined)[] = [];
    const args = { disputeId, fileName: "letter.txt", text: "We were charged twice." };
    const uploaded = (await host.callTool(
      { name: "dispute_attachments_upload", arguments: args },
      { onprogress: ({ message }) => steps.push(message) },
    )) as unknown as Answer;
    expect(uploaded.structuredContent).toMatchObject({ status: "Available", failureReasons: [] });
    expect(steps.slice(0, 2)).toEqual(["Announced.", "Uploaded 22 bytes."]);
    const ids = { disputeId, attachmentId: uploaded.structuredContent?.["attachmentId"] };
    const { items } = (await done("dispute_attachments_list", { disputeId })) as { items: Json[] };
    expect(items.map(({ attachmentId }) => attachmentId)).toContain(ids.attachmentId);
    const text = await done("dispute_attachments_download", ids);
    expect(text).toMatchObject({
      text: [{ text: "We were charged twice." }],
      truncated: false,
    });
    const { contents } = await host.readResource({ uri: `receivables://disputes/${disputeId}` });
    expect(JSON.stringify(contents)).toContain("letter.txt");
    expect(await done("dispute_attachments_delete", ids)).toMatchObject({ deleted: true });
    const gone = await call("dispute_attachments_download", ids);
    expect(gone._meta?.["receivables/problem"]).toMatchObject({ code: "not_found" });
  });

  verifies("WK-20", "WK-22");
  it("are read as text, and begin in the packet", async () => {
    const pages = ["Proof of delivery: 12 of 14 pumps.", "Signed by the driver."];
    const base64 = (await pdfWithPages(pages)).toString("base64");
    const args = { disputeId, fileName: "pod.pdf", base64 };
    const { attachmentId } = await done("dispute_attachments_upload", args);
    const read = await done("dispute_attachments_download", { disputeId, attachmentId });
    expect(read).toMatchObject({
      pagesTotal: 2,
      text: pages.map((text, index) => ({ page: index + 1, text })),
    });
    const { items } = await done("dispute_packet", { disputeId });
    const [{ files }] = items as [{ files: Json[] }];
    expect(files).toContainEqual(
      expect.objectContaining({ attachmentId, fileName: "pod.pdf", excerpt: pages.join("\n") }),
    );
  });

  verifies("AT-04");
  it("are uploaded from an allowed folder, and from no other", async () => {
    const args = { disputeId, fileName: "scan.pdf" };
    const path = join(folder, "outbox", "scan.pdf");
    const { attachmentId } = await done("dispute_attachments_upload", { ...args, path });
    const { content } = await call("dispute_attachments_download", {
      disputeId,
      attachmentId,
      as: "file",
    });
    expect(content[1]?.resource?.blob).toBe(
      (await readFile(join(folder, "outbox", "scan.pdf"))).toString("base64"),
    );
    for (const other of ["private.txt", "data/secret.key", "outbox/../private.txt"]) {
      const refused = await call("dispute_attachments_upload", {
        disputeId,
        fileName: "a.txt",
        path: `${folder}/${other}`,
      });
      expect(refused._meta?.["receivables/problem"]).toMatchObject({ code: "invalid_request" });
    }
  });

  verifies("C-52");
  it("of the wrong kind never become available", async () => {
    const base64 = Buffer.from("MZ no picture").toString("base64");
    const args = { disputeId, fileName: "photo.png", base64 };
    const rejected = await done("dispute_attachments_upload", args);
    expect(rejected).toMatchObject({ status: "Rejected", downloadUrl: "" });
  });

  verifies("AT-01");
  it("are transferred over a server that serves only files", async () => {
    const args = { disputeId, fileName: "door.txt" };
    const { uploadUrl, attachmentId } = await done("dispute_attachments_create", args);
    const url = new URL(String(uploadUrl));
    expect(url.hostname).toBe("127.0.0.1");
    expect((await fetch(url, { method: "PUT", body: "by hand" })).status).toBe(204);
    for (const path of ["/health", "/openapi.json", "/docs", "/", "/uploads", "/uploads/x/y"]) {
      expect([path, (await fetch(new URL(path, url))).status]).toEqual([path, 404]);
    }
    await expect
      .poll(
        async () => (await done("dispute_attachments_get", { disputeId, attachmentId }))["status"],
        { timeout: 20_000 },
      )
      .toBe("Available");
    const got = await done("dispute_attachments_get", { disputeId, attachmentId });
    expect(await (await fetch(String(got["downloadUrl"]))).text()).toBe("by hand");
  });
});

describe("files of the demo tenant over HTTP", () => {
  const folder = useFolder();
  let server: Running;
  let host: Client;
  let ready: Ready;

  beforeAll(async () => {
    await writeFile(join(folder, "near.txt"), "of the server's machine");
    server = startCli(["http", "--port", "0"], {
      RECEIVABLES_DATA: join(folder, "data"),
      RECEIVABLES_UPLOAD_FOLDERS: folder,
    });
    ready = await whenReady(server);
    host = new Client({ name: "test", version: "1" });
    await host.connect(new StreamableHTTPClientTransport(new URL(ready.mcpUrl ?? "")));
  });
  afterAll(async () => {
    await host?.close();
    await server?.end("SIGTERM");
  });

  const call = async (name: string, args: Json): Promise<Answer> =>
    (await host.callTool({ name, arguments: args })) as unknown as Answer;

  verifies("AT-04");
  it("are transferred through the server's own address, never from its own disk", async () => {
    const listed = await call("disputes_list", { PageSize: 1 });
    const { items } = listed.structuredContent as { items: { disputeId: string }[] };
    const file = { disputeId: items[0]?.disputeId, fileName: "over-http.txt" };
    const { structuredContent } = await call("dispute_attachments_upload", { ...file, text: "x" });
    expect(structuredContent).toMatchObject({ status: "Available" });
    const url = new URL(String(structuredContent?.["downloadUrl"]));
    expect(url.origin).toBe(ready.baseUrl);
    const { attachmentId } = structuredContent ?? {};
    const ids = { disputeId: file.disputeId, attachmentId };
    const read = await call("dispute_attachments_download", ids);
    expect(read.structuredContent).toMatchObject({ text: [{ part: "text", text: "x" }] });
    const path = join(folder, "near.txt");
    const refused = await call("dispute_attachments_upload", { ...file, path });
    expect(refused.content[0]?.text).toContain("RECEIVABLES_UPLOAD_FOLDERS names no folder");
  });
});
