import { statSync, utimesSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HOUR, systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { type Ready, type Running, startCli, whenReady } from "../support/cli.ts";
import { connectionOf, DOCUMENTS, filesUnder, invoice, pdf, uploadPath } from "../support/pdf.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;
const TENANT = "crash";

describe.each(dialects)("a platform killed during uploads ($name)", ({ create }) => {
  let database: Database;
  let running: Running;
  let ready: Ready;
  let key: string;
  let path: string;
  let folder: string;

  const start = async (): Promise<void> => {
    const env = { ...database.environment, RECEIVABLES_LOG: "info" };
    running = startCli(["platform", "--port", "0"], env);
    ready = await whenReady(running);
  };

  beforeEach(async () => {
    database = await create();
    folder = join(database.environment["RECEIVABLES_DATA"] ?? "", "files");
    const store = await database.open();
    const needs = { store, clock: systemClock, newId: randomId };
    await createTenant(needs, { tenantId: TENANT, name: TENANT });
    const scopes = ["ingest:read", "ingest:write"];
    key = (await issueKey(needs, { tenantId: TENANT, name: "crash", scopes })).apiKey;
    path = uploadPath(await connectionOf(store, TENANT), "D");
    await store.close();
    await start();
  });
  afterEach(async () => {
    await running.end("SIGTERM");
    await database.remove();
  });

  const ask = (method: string, to: string, type: string, body?: Uint8Array<ArrayBuffer> | string) =>
    fetch(ready.extBaseUrl + to, {
      method,
      headers: { "X-API-Key": key, "Content-Type": type },
      ...(body === undefined ? {} : { body }),
    });

  const drafts = () => filesUnder(join(folder, ".drafts"));

  const beginUpload = async (): Promise<void> => {
    const socket = connect(Number(new URL(ready.extBaseUrl).port), "127.0.0.1");
    socket.on("error", () => {});
    const head = [`POST ${path} HTTP/1.1`, "Host: x", `X-API-Key: ${key}`];
    head.push("Content-Type: application/pdf", `Content-Length: ${2 * MIB}`, "", "");
    socket.write(head.join("\r\n"));
    socket.write(pdf("killed", 2 * MIB).subarray(0, MIB));
    await expect.poll(() => drafts().map((draft) => statSync(draft).size)).toEqual([MIB]);
  };

  verifies("D-PDF");
  it("has every acknowledged file, and sweeps the rest, after its restart", async () => {
    const made = await ask(
      "POST",
      `${DOCUMENTS}/D`,
      "application/json",
      JSON.stringify(invoice("D")),
    );
    expect(made.status).toBe(201);
    const sent = await ask("POST", path, "application/pdf", pdf("acknowledged", MIB));
    expect(sent.status).toBe(200);
    const { id } = (await sent.json()) as { id: string };
    const [kept = ""] = filesUnder(folder);
    await beginUpload();
    await running.end("SIGKILL");
    const [draft = ""] = drafts();
    const orphan = join(kept, "..", randomId());
    const young = join(kept, "..", randomId());
    for (const file of [orphan, young]) await writeFile(file, pdf("never recorded"));
    const old = new Date(systemClock() - 2 * HOUR);
    for (const file of [draft, orphan, kept]) utimesSync(file, old, old);
    await start();
    await expect.poll(() => filesUnder(folder).toSorted()).toEqual([kept, young].toSorted());
    await expect
      .poll(() => running.texts.stderr)
      .toContain('"files.swept","unfinished":1,"unknown":1');
    const read = await ask("GET", `${DOCUMENTS}/D/attachments/${id}`, "application/json");
    expect(Buffer.from(await read.arrayBuffer()).equals(pdf("acknowledged", MIB))).toBe(true);
    const again = await ask("POST", path, "application/pdf", pdf("after", MIB));
    expect(again.status).toBe(200);
  });
});
