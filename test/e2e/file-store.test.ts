import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { type Running, runCli, startCli, whenReady } from "../support/cli.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { type FakeS3, S3_ENVIRONMENT, startFakeS3 } from "../support/s3/server.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;
const TENANT = "files";
const PREFIX = "all/files";

describe.each(dialects)("a platform with files on S3 ($name)", ({ create }) => {
  let database: Database;
  let s3: FakeS3;
  let running: Running | undefined;
  let base: string;
  let key: string;
  let path: string;
  let elsewhere: string;

  const onS3 = () => {
    const { bucket, endpoint, region } = s3.location(PREFIX);
    const url = `s3://${bucket}/${PREFIX}?endpoint=${endpoint}&region=${region}`;
    return { ...S3_ENVIRONMENT, RECEIVABLES_FILES_URL: url };
  };
  const settings = (more: Record<string, string>) => ({ ...database.environment, ...more });

  const start = async (more: Record<string, string>): Promise<void> => {
    running = startCli(["platform", "--port", "0"], settings({ RECEIVABLES_LOG: "info", ...more }));
    ({ extBaseUrl: base } = await whenReady(running));
  };

  const ask = (method: string, to: string, type: string, body?: Uint8Array<ArrayBuffer> | string) =>
    fetch(base + to, {
      method,
      headers: { "X-API-Key": key, "Content-Type": type },
      ...(body === undefined ? {} : { body }),
    });

  const upload = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
    const sent = await ask("POST", path, "application/pdf", bytes);
    expect(sent.status, await sent.clone().text()).toBe(200);
    return ((await sent.json()) as { id: string }).id;
  };

  const download = async (id: string): Promise<Buffer> => {
    const read = await ask("GET", `${DOCUMENTS}/D/attachments/${id}`, "application/json");
    expect(read.status).toBe(200);
    return Buffer.from(await read.arrayBuffer());
  };

  beforeEach(async () => {
    s3 = await startFakeS3();
    elsewhere = mkdtempSync(join(tmpdir(), "receivables-elsewhere-"));
    database = await create();
    const store = await database.open();
    const needs = { store, clock: systemClock, newId: randomId };
    await createTenant(needs, { tenantId: TENANT, name: TENANT });
    const scopes = ["ingest:read", "ingest:write"];
    key = (await issueKey(needs, { tenantId: TENANT, name: "files", scopes })).apiKey;
    path = uploadPath(await connectionOf(store, TENANT), "D");
    await store.close();
  });
  afterEach(async () => {
    await running?.end("SIGTERM");
    await database.remove();
    rmSync(elsewhere, { recursive: true, force: true });
    await s3.stop();
    if (s3.refused.length > 0) throw new Error(s3.refused.join("\n"));
  });

  const addDocument = () =>
    ask("POST", `${DOCUMENTS}/D`, "application/json", JSON.stringify(invoice("D")));

  const keysOnS3 = () => [...s3.objects.keys()].filter((name) => !name.endsWith("/store/id"));

  const beginUpload = async (): Promise<void> => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    socket.on("error", () => {});
    const head = [`POST ${path} HTTP/1.1`, "Host: x", `X-API-Key: ${key}`];
    head.push("Content-Type: application/pdf", `Content-Length: ${12 * MIB}`, "", "");
    socket.write(head.join("\r\n"));
    socket.write(pdf("killed", 12 * MIB).subarray(0, 8 * MIB));
    await expect.poll(() => [...s3.uploads.values()].map(({ parts }) => parts.size)).toEqual([1]);
  };

  verifies("OP-21");
  it("has every acknowledged file after it was killed, and sweeps what it left", async () => {
    await start(onS3());
    expect((await addDocument()).status).toBe(201);
    const bytes = pdf("acknowledged", 11 * MIB);
    const id = await upload(bytes);
    const kept = keysOnS3();
    await beginUpload();
    await running?.end("SIGKILL");
    expect(keysOnS3()).toEqual(kept);
    const orphan = `${kept[0]?.slice(0, -1)}x`;
    s3.objects.set(orphan, { bytes: Buffer.from("never recorded"), at: 0 });
    for (const one of s3.uploads.values()) {
      one.at -= 2 * HOUR;
      for (const part of one.parts.values()) part.at -= 2 * HOUR;
    }
    await start(onS3());
    await expect
      .poll(() => running?.texts.stderr)
      .toContain('"files.swept","unfinished":1,"unknown":1');
    expect([keysOnS3(), s3.uploads.size]).toEqual([kept, 0]);
    expect((await download(id)).equals(bytes)).toBe(true);
  });

  verifies("OP-21", "OP-30");
  it("answers 503 while S3 fails, and goes on when it works again", async () => {
    await start(onS3());
    expect((await addDocument()).status).toBe(201);
    const id = await upload(pdf("before", MIB));
    s3.fault = () => ({ status: 503, code: "SlowDown" });
    const refused = await ask("POST", path, "application/pdf", pdf("during", MIB));
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ error: "unavailable" });
    const ready = await fetch(`${base}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      parts: { store: { ok: true }, files: { ok: false } },
    });
    s3.fault = () => undefined;
    expect((await download(id)).equals(pdf("before", MIB))).toBe(true);
    await upload(pdf("after", MIB));
    await expect.poll(async () => (await fetch(`${base}/ready`)).status).toBe(200);
  });

  verifies("OP-21");
  it("takes over the files of a folder, and then refuses to start with the folder", async () => {
    await start({});
    expect((await addDocument()).status).toBe(201);
    const id = await upload(pdf("moved", MIB));
    await running?.end("SIGTERM");
    const other = startCli(["platform", "--port", "0"], settings(onS3()));
    await expect(whenReady(other)).rejects.toThrow(
      /but s3:\/\/test-bucket\/all\/files at .* has no id/,
    );
    const doctor = await runCli(
      ["doctor", "--json"],
      settings({ RECEIVABLES_FILES_URL: elsewhere }),
    );
    expect(doctor.stdout).toMatch(
      /"file_store","ok":false,"found":"[^"]*receivables-elsewhere-[^"]* has no id/,
    );
    expect(readdirSync(elsewhere)).toEqual([]);
    const early = await runCli(["admin", "files", "adopt"], settings(onS3()));
    expect([early.status, early.stderr]).toEqual([
      1,
      expect.stringContaining("lacks 1 of the database's 1 files"),
    ]);
    const folder = join(database.environment["RECEIVABLES_DATA"] ?? "", "files");
    for (const file of filesUnder(folder)) {
      const name = relative(folder, file);
      if (name.startsWith(".drafts")) continue;
      s3.objects.set(`${PREFIX}/${name}`, { bytes: readFileSync(file), at: systemClock() });
    }
    const adopted = await runCli(["admin", "files", "adopt"], settings(onS3()));
    expect([adopted.status, JSON.parse(adopted.stdout)]).toMatchObject([0, { files: 1 }]);
    await start(onS3());
    expect((await download(id)).equals(pdf("moved", MIB))).toBe(true);
    const left = startCli(["platform", "--port", "0"], settings({}));
    await expect(whenReady(left)).rejects.toThrow(/with the id .*, but .*files has the id/);
  });
});
