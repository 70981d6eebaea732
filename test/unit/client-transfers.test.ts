import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { createLazyTransfers } from "../../src/bin/compose/mcp.ts";
import { createTransfers, type TransferNeeds } from "../../src/client/transfers.ts";
import { Problem } from "../../src/contract/errors.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { listen } from "../support/listen.ts";
import { verifies } from "../support/verifies.ts";

const closing: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of closing.splice(0)) server.close();
});

type Seen = {
  method: string | undefined;
  url: string | undefined;
  headers: string[];
  body: Buffer;
};

/** A server that records requests and responds with `answer`. */
const listening = async (
  answer: (request: IncomingMessage) => { status: number; headers?: object; body?: Buffer },
) => {
  const seen: Seen[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const { method, url, rawHeaders } = request;
    const headers = rawHeaders.filter((_, index) => index % 2 === 0);
    seen.push({ method, url, headers: headers.map((name) => name.toLowerCase()), body });
    const { status, headers: sent = {}, body: told = Buffer.from("") } = answer(request);
    response.writeHead(status, { "Content-Length": told.byteLength, ...sent }).end(told);
  };
  const server: Server = createServer((request, response) => {
    void serve(request, response);
  });
  closing.push(server);
  return { seen, url: `http://127.0.0.1:${await listen(server)}` };
};

const transfers = (needs: Partial<TransferNeeds> = {}) =>
  createTransfers({
    isOwn: () => true,
    resolve: () => Promise.reject(new Error("no name is looked up")),
    allowed: createNetworks([]),
    requestMs: 10_000,
    ...needs,
  });

const file = (text: string) => ({ size: Buffer.byteLength(text), bytes: Buffer.from(text) });

const failure = async (act: Promise<unknown>): Promise<Problem> => {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Problem) return error;
  throw new Error(`no Problem but ${String(error)}`);
};

describe("files to and from signed URLs", () => {
  it("are sent with their length and without headers about the caller", async () => {
    const { url, seen } = await listening(() => ({ status: 204 }));
    await transfers().put(`${url}/uploads/1?expires=9&sig=s`, file("bytes"));
    expect(seen).toMatchObject([{ method: "PUT", url: "/uploads/1?expires=9&sig=s" }]);
    expect(seen[0]?.body.toString()).toBe("bytes");
    const harmless = new Set(["host", "connection", "content-length"]);
    expect(seen[0]?.headers.filter((name) => !harmless.has(name))).toEqual([]);
  });

  it("are sent while they are read", async () => {
    const { url, seen } = await listening(() => ({ status: 204 }));
    const bytes = Readable.from([Buffer.from("in "), Buffer.from("pieces")]);
    await transfers().put(`${url}/u`, { size: 9, bytes });
    expect(seen[0]?.body.toString()).toBe("in pieces");
  });

  it("are downloaded completely, refused, or cut to their beginning", async () => {
    const body = Buffer.alloc(100_000, "x");
    const headers = { "Content-Type": "Text/Plain; charset=utf-8" };
    const { url, seen } = await listening(() => ({ status: 200, headers, body }));
    const { get } = transfers();
    const whole = await get(`${url}/d`, { maxBytes: 100_000, part: false });
    expect(whole).toEqual({ mimeType: "text/plain", fileSize: 100_000, bytes: body });
    const none = await get(`${url}/d`, { maxBytes: 99_999, part: false });
    expect(none).toEqual({ mimeType: "text/plain", fileSize: 100_000, bytes: undefined });
    const part = await get(`${url}/d`, { maxBytes: 10, part: true });
    expect(part).toEqual({
      mimeType: "text/plain",
      fileSize: 100_000,
      bytes: Buffer.alloc(10, "x"),
    });
    expect(seen.every(({ headers: sent }) => !sent.includes("authorization"))).toBe(true);
  });

  it.each([
    [403, "signed_url_refused"],
    [404, "signed_url_refused"],
    [409, "conflict"],
    [411, "length_required"],
    [413, "payload_too_large"],
    [500, "unavailable"],
  ])("are refused with status %i as %s", async (status, code) => {
    const { url } = await listening(() => ({ status, body: Buffer.from("<b>no</b>") }));
    const problem = await failure(transfers().put(`${url}/u`, file("x")));
    expect(problem.code).toBe(code);
    expect(problem.message).not.toContain("<b>");
    expect(problem.message).not.toContain(url);
  });

  verifies("C-26");
  it.each([301, 302, 303, 307, 308])("follow no redirect of status %i", async (status) => {
    const elsewhere = await listening(() => ({ status: 200 }));
    const headers = { Location: `${elsewhere.url}/stolen` };
    const { url, seen } = await listening(() => ({ status, headers }));
    const { put, get } = transfers();
    expect((await failure(put(`${url}/u`, file("x")))).code).toBe("unavailable");
    const got = get(`${url}/d`, { maxBytes: 10, part: true });
    expect((await failure(got)).code).toBe("unavailable");
    expect(seen).toHaveLength(2);
    expect(elsewhere.seen).toEqual([]);
  });

  it("are unavailable if the server does not listen or respond", async () => {
    const refusedAt = await failure(transfers().put("http://127.0.0.1:9/u", file("x")));
    expect(refusedAt).toMatchObject({ code: "unavailable" });
    const silent = createTcpServer(() => {});
    closing.push(silent);
    const url = `http://127.0.0.1:${await listen(silent)}/d`;
    const late = transfers({ requestMs: 50 }).get(url, { maxBytes: 1, part: true });
    expect((await failure(late)).message).toContain("did not answer in time");
  });
});

describe("endless files", () => {
  it("end at the time limit, or when the person cancels", async () => {
    const open = new Set<unknown>();
    const server = createTcpServer((socket) => {
      open.add(socket);
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
      const drip = setInterval(() => socket.write("x"), 20);
      socket
        .on("error", () => {})
        .on("close", () => {
          clearInterval(drip);
          open.delete(socket);
        });
    });
    closing.push(server);
    const url = `http://127.0.0.1:${await listen(server)}/d`;
    const wanted = { maxBytes: 60_000, part: false };
    const late = await failure(transfers({ requestMs: 100 }).get(url, wanted));
    expect(late).toMatchObject({ code: "unavailable", message: expect.stringMatching(/in time/) });
    const signal = AbortSignal.timeout(100);
    const stopped = await failure(transfers().get(url, wanted, signal));
    expect(stopped.message).toContain("canceled");
    await expect.poll(() => open.size).toBe(0);
  });
});

describe("allowed destinations of signed URLs", () => {
  const foreign = (resolve: TransferNeeds["resolve"]) => transfers({ isOwn: () => false, resolve });
  const nobody: TransferNeeds["resolve"] = () => Promise.reject(new Error("not looked up"));

  verifies("C-22", "C-23");
  it.each([
    "https://127.0.0.1/u",
    "https://127.1/u",
    "https://2130706433/u",
    "https://0x7f.1/u",
    "https://0177.0.0.1/u",
    "https://[::1]/u",
    "https://[::ffff:7f00:1]/u",
    "https://10.1.2.3/u",
    "https://169.254.169.254/latest/meta-data",
    "https://[fd00:ec2::254]/u",
    "https://192.168.0.1:8443/u",
  ])("never to %s, unless it is the platform's own", async (url) => {
    const { put, get } = foreign(nobody);
    expect((await failure(put(url, file("x")))).message).toContain("not public");
    const got = get(url, { maxBytes: 1, part: true });
    expect((await failure(got)).message).toContain("not public");
  });

  verifies("C-24", "C-25");
  it.each([
    ["a private address", ["10.0.0.1"]],
    ["this machine", ["127.0.0.1"]],
    ["a public and a private address", ["93.184.216.34", "192.168.1.1"]],
    ["nothing", []],
  ])("never to a name that means %s", async (_what, addresses) => {
    const { put } = foreign(async () => addresses);
    const problem = await failure(put("https://files.example/u", file("x")));
    expect(problem.message).toContain("not public");
  });

  verifies("C-23");
  it.each([
    "https://localhost/u",
    "https://files.localhost./u",
    "https://metadata.google.internal/u",
  ])("never to %s, whatever it resolves to", async (url) => {
    const { put } = foreign(async () => ["93.184.216.34"]);
    expect((await failure(put(url, file("x")))).message).toContain("not public");
  });

  it.each([
    ["http://93.184.216.34/u", "https"],
    ["ftp://files.example/u", "URL"],
    ["https://user:pass@files.example/u", "credential"],
    ["not a url", "URL"],
    ["", "URL"],
  ])("never to %s", async (url, word) => {
    const { put } = foreign(async () => ["93.184.216.34"]);
    expect((await failure(put(url, file("x")))).message).toContain(word);
  });

  verifies("C-24");
  it("connects to the very address that was checked, even if the name resolves to another one afterwards", async () => {
    const hellos: Buffer[] = [];
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (hello) => {
        hellos.push(hello);
        socket.destroy();
      });
    });
    closing.push(server);
    const port = await listen(server);
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    const { put } = transfers({
      isOwn: () => false,
      resolve: async () => answers.shift() ?? [],
      allowed: createNetworks(["127.0.0.0/8"]),
    });
    const problem = await failure(put(`https://files.example:${port}/u`, file("x")));
    expect(problem.message).toContain("the connection failed");
    expect(answers).toEqual([["10.0.0.1"]]);
    // A TLS greeting for that name.
    expect(hellos[0]?.[0]).toBe(22);
    expect(hellos[0]?.toString("latin1")).toContain("files.example");
  });

  verifies("C-22");
  it("are not sent without TLS to a platform whose address has it", async () => {
    const { url, seen } = await listening(() => ({ status: 204 }));
    const base = url.replace("http:", "https:");
    const remote = { gateway: base, export: base };
    const sent = createLazyTransfers({ remote, requestMs: 10_000 }).put(`${url}/u`, file("x"));
    expect((await failure(sent)).message).toContain("neither https nor at the platform");
    expect(seen).toEqual([]);
  });
});
