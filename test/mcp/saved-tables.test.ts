import { mkdtemp, readdir, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { readSheet } from "read-excel-file/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { DAY, HOUR } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import type { SavedFiles } from "../../src/mcp/results/saved-files.ts";
import { createSavedHandler } from "../../src/mcp/http/saved-handler.ts";
import { createSavedLinks } from "../../src/mcp/tools/saved-links.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { createStorageQuota } from "../../src/platform/files/quota.ts";
import { createSavedFiles } from "../../src/platform/files/saved.ts";
import { type Store, StoreUnavailable, TenantPaused } from "../../src/platform/store/port.ts";
import { createSavedRecords } from "../../src/records/saved-files.ts";
import { createStorage } from "../../src/records/storage.ts";
import { fillDisputes } from "../support/many-disputes.ts";
import { load } from "../support/payment-rows.ts";
import { MASTER_KEY, onEveryStore, startPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker, type Tenant } from "./each-tool.ts";
import {
  connectModern,
  createOptions,
  type Host,
  KEY,
  readProblem,
  readText,
  type Setup,
} from "./hosts.ts";

/** More rows than an answer shows, and than a page of the platform has. */
const ROWS = 1200;
const HOSTILE = "=HYPERLINK(1)";

type Saved = {
  uri: string;
  name: string;
  rows: number;
  size: number;
  url?: string;
  path?: string;
  deletedAt: string;
};

const readTable = (text: string): string[][] => parse(text, { bom: true });

onEveryStore("saved tables", (at) => {
  let tenant: Tenant;
  let broker: Broker;
  const brokers: Broker[] = [];
  const connectAs = async (who: Broker, setup: Setup = {}): Promise<Host> =>
    connectModern(
      await createOptions(who, {
        now: () => tenant.at.clock(),
        saved: at().platform.savedFiles,
        ...setup,
      }),
    );
  const connect = (setup?: Setup) => connectAs(broker, setup);

  beforeAll(async () => {
    tenant = { at: at(), tenantId: "tables", admin: await at().tenant("tables") };
    await fillDisputes(at().store, "tables", ROWS, at().clock());
    await load(
      at(),
      "tables",
      "cashapp",
      Array.from({ length: 230 }, (_, index) => ({
        id: `row-${index}`,
        paymentId: `P-${index}`,
        payerName: index === 0 ? HOSTILE : `Payer ${index}`,
        paymentDate: "2026-01-31",
        paymentAmount: index + 0.5,
        currencyCode: "USD",
      })),
    );
    broker = await createTenantBroker(tenant);
    brokers.push(broker);
  }, 60_000);
  afterAll(async () => {
    for (const one of brokers) await one.close();
  });

  const save = async (host: Host, name: string, args: object): Promise<Saved> => {
    const result = await host.call(name, { save: "csv", ...args });
    if (result.isError === true) throw new Error(readText(result));
    const { saved } = result.structuredContent as { saved: Saved };
    expect(result.content.at(-1)).toMatchObject({ type: "resource_link", uri: saved.uri });
    return saved;
  };

  const read = async (host: Host, uri: string) => {
    const { contents } = await host.client.readResource({ uri });
    return contents[0] as { text?: string; blob?: string; mimeType: string };
  };

  verifies("WK-90");
  it("has every row of a list, in the fields of its answer", async () => {
    const host = await connect();
    const saved = await save(host, "disputes_list", { PageSize: 5 });
    expect(saved).toMatchObject({ rows: ROWS, uri: `receivables://saved/${saved.name}` });
    const { text = "", mimeType } = await read(host, saved.uri);
    const [header = [], ...rows] = readTable(text);
    expect([mimeType, rows.length, Buffer.byteLength(text)]).toEqual([
      "text/csv",
      ROWS,
      saved.size,
    ]);
    const { items } = (await host.call("disputes_list", { PageSize: 3 })).structuredContent as {
      items: Record<string, unknown>[];
    };
    for (const name of Object.keys(items[0] ?? {})) expect(header).toContain(name);
    expect(new Set(rows.map((row) => row[header.indexOf("disputeCode")])).size).toBe(ROWS);
    expect(rows[0]?.[header.indexOf("status")]).toBe("Open");
  });

  it("has the named fields, in their order", async () => {
    const host = await connect();
    const fields = ["amount", "disputeCode"];
    const { uri } = await save(host, "disputes_list", { fields, save: "xlsx" });
    const { blob = "" } = await read(host, uri);
    const bytes = Buffer.from(blob, "base64");
    const sheet = await readSheet(bytes);
    expect(sheet[0]).toEqual(fields);
    expect([sheet.length, typeof sheet[1]?.[0]]).toEqual([ROWS + 1, "number"]);
    const facts = Object.fromEntries(await readSheet(bytes, "About")) as Record<string, unknown>;
    expect(facts).toMatchObject({ tool: "disputes_list", rows: ROWS, timeZone: "UTC" });
  });

  it("has every item of an insight, with extensions and without", async () => {
    const tables = await Promise.all(
      [broker, { ...broker, extensions: async () => new Set<string>() }].map(async (who) => {
        const host = await connectAs(who);
        const args = { source: "cashapp", groupBy: ["payerName"], limit: 5 };
        const { uri, rows } = await save(host, "payments_summarize", args);
        expect(rows).toBe(230);
        return readTable((await read(host, uri)).text ?? "");
      }),
    );
    expect(tables[0]).toEqual(tables[1]);
    const [header = []] = tables[0] ?? [];
    expect(header).toEqual(expect.arrayContaining(["key.payerName", "payments"]));
    const names = tables[0]?.map((row) => row[header.indexOf("key.payerName")]) ?? [];
    expect(names).toContain(`'${HOSTILE}`);
    expect(new Set(names).size).toBe(231);
  });

  it("says above a CSV file what it is about", async () => {
    const host = await connect();
    const args = { groupBy: ["status"], status: "Open", about: true };
    const { uri } = await save(host, "disputes_summary", args);
    const { text = "" } = await read(host, uri);
    const [facts = "", table = ""] = text.split("\r\n\r\n");
    expect(facts).toContain("tool,disputes_summary\r\n");
    expect(facts).toMatch(/\r\nstatus,.*Open/);
    expect(facts).toContain("\r\nrows,1");
    expect(readTable(table)).toHaveLength(2);
  });

  it("is read by the tool for hosts without resources, in pages", async () => {
    const host = await connect({ settings: { answerTokens: 2000 } });
    for (const format of ["csv", "xlsx"]) {
      const { uri } = await save(host, "disputes_list", { save: format });
      const first = (await host.call("read_resource", { uri })).structuredContent ?? {};
      expect(first["text"]).toContain("disputeCode");
      const cursor = first["nextCursor"];
      const next = await host.call("read_resource", { uri, cursor });
      expect(next.structuredContent?.["text"]).not.toContain("disputeCode");
    }
  });

  it("is read by who saved it alone, and not without the tool's right", async () => {
    const { uri } = await save(await connect(), "disputes_list", {});
    const another = await connect({ caller: "person-2" });
    await expect(read(another, uri)).rejects.toThrow(/not found/);
    expect(readProblem(await another.call("read_resource", { uri })).code).toBe("not_found");
    const other = { at: at(), tenantId: "others", admin: await at().tenant("others") };
    const stranger = await createTenantBroker(other);
    brokers.push(stranger);
    await expect(read(await connectAs(stranger), uri)).rejects.toThrow(/not found/);
    const rights = { mayHave: () => false, onChange: () => () => {} };
    const limited = await connectAs({ ...broker, rights } as unknown as Broker);
    await expect(read(limited, uri)).rejects.toThrow(/may not use disputes_list any more/);
    await expect(read(await connect(), `${uri}/../x`)).rejects.toThrow();
  });

  it("is deleted after a day, and counts against the quota until then", async () => {
    const host = await connect();
    const { uri, name, deletedAt } = await save(host, "disputes_list", {});
    expect(Date.parse(deletedAt)).toBe(at().clock() + DAY);
    const files = await readdir(at().files, { recursive: true });
    at().clock.advance(DAY + 1);
    await expect(read(host, uri)).rejects.toThrow(/not found/);
    const { savedFiles } = await at().platform.purge();
    expect(savedFiles).toBeGreaterThan(0);
    const left = await readdir(at().files, { recursive: true });
    expect(left.length).toBeLessThan(files.length);
    expect(name).toMatch(/^disputes_list-/);
  });

  it("is copied into the folder of the settings, and never through a link", async () => {
    const folder = await mkdtemp(join(tmpdir(), "saved-"));
    const host = await connect({ saveFolder: folder });
    const { uri, path = "" } = await save(host, "disputes_list", {});
    expect(await readFile(path, "utf8")).toBe((await read(host, uri)).text);
    const newId = () => "00000000-0000-4000-8000-0000deadbeef";
    const day = new Date(at().clock()).toISOString().slice(0, 10);
    const target = join(folder, "victim");
    await symlink(target, join(folder, `disputes_list-${day}-deadbeef.csv`));
    const result = await (
      await connect({ saveFolder: folder, newId })
    ).call("disputes_list", {
      save: "csv",
    });
    expect(readText(result)).toContain("It is not in RECEIVABLES_SAVE_FOLDER");
    await expect(readFile(target)).rejects.toThrow("ENOENT");
  });

  verifies("WK-90");
  it("has an address for an hour", async () => {
    const files = at().platform.savedFiles;
    const now = () => at().clock();
    const links = createSavedLinks({ key: KEY, base: "http://mcp.test", now, place: "platform" });
    const host = await connect({ savedLink: links.urlOf });
    const { url = "", uri, name } = await save(host, "disputes_list", { save: "xlsx" });
    const answer = createSavedHandler(links, () => files);
    const response = await answer(new Request(url));
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${name}"`);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString("base64")).toBe((await read(host, uri)).blob);
    const head = await answer(new Request(url, { method: "HEAD" }));
    expect(head.headers.get("content-length")).toBe(String(bytes.length));
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await answer(new Request(`${url}x`))).status).toBe(404);
    expect((await answer(new Request(url, { method: "POST" }))).status).toBe(405);
    at().clock.advance(HOUR + 1000);
    expect((await answer(new Request(url))).status).toBe(404);
  });

  it("is refused where a list takes too long, and never has a part of it", async () => {
    let readings = 0;
    const slow = await connect({ now: () => tenant.at.clock() + HOUR * readings++ });
    const refused = await slow.call("disputes_list", { save: "csv" });
    expect(refused.isError).toBe(true);
    expect(readText(refused)).toMatch(
      /^payload_too_large: Reading took 30 minutes for 500 rows, and there are more\. Nothing was saved\. Save the list in parts, .* Next: Send less in one call\.$/,
    );
  });

  /** A broker whose third page is refused so many times. */
  const refusing = (times: number): Broker => {
    let [pages, left] = [0, times];
    const call: Broker["call"] = async (operation, args, options) => {
      if (operation.id === "disputes.list" && (pages += 1) > 2 && left > 0) {
        left -= 1;
        throw new Problem("unavailable", "The service cannot use its store now.");
      }
      return broker.call(operation, args, options);
    };
    return { ...broker, call };
  };

  it("waits where a page is refused for now, three times at most", async () => {
    const pauses: number[] = [];
    const wait = { sleep: async (ms: number) => void pauses.push(ms), chance: () => 0 };
    const patient = await connectAs(refusing(3), { wait });
    expect(await save(patient, "disputes_list", {})).toMatchObject({ rows: ROWS });
    expect(pauses).toEqual([1000, 5000, 20_000]);
    const refused = await (
      await connectAs(refusing(4), { wait })
    ).call("disputes_list", {
      save: "csv",
    });
    expect(readProblem(refused)).toMatchObject({
      code: "unavailable",
      message: "The service cannot use its store now.",
    });
  });

  it("names the cause where the store fails, and leaves nothing", async () => {
    const failing = (of: Store, files: FileStore) =>
      createSavedFiles({
        store: of,
        files,
        clock: at().clock,
        log: silentLog,
        newId: randomId,
        quota: createStorageQuota(at().store, 1_000_000_000),
      });
    const full: FileStore = {
      ...createDiskFiles(at().files),
      put: () => Promise.reject(new StoreUnavailable(new Error("no space left"))),
    };
    const paused: Store = {
      ...at().store,
      transaction: () => Promise.reject(new TenantPaused("tables")),
    };
    const disk = createDiskFiles(at().files);
    for (const [saved, cause] of [
      [failing(at().store, full), /cannot use its store now/],
      [failing(paused, disk), /is paused, because it is being moved/],
    ] as const) {
      const host = await connect({ saved });
      const { code, message } = readProblem(await host.call("disputes_list", { save: "csv" }));
      expect([code, message]).toEqual(["unavailable", expect.stringMatching(cause)]);
    }
  });

  it("refuses other formats, and about without a file", async () => {
    const host = await connect();
    expect(readText(await host.call("disputes_list", { save: "pdf" }))).toMatch(/csv.*xlsx/);
    expect(readText(await host.call("find_records", { text: "a", save: "pdf" }))).toMatch(
      /csv.*xlsx/,
    );
  });

  describe("of a remote platform", () => {
    const openRecords = async (maxBytes: number): Promise<SavedFiles> => {
      const storage = createStorage(await at().oauthStore(), () => at().clock());
      const needs = { storage: async () => storage, key: async () => MASTER_KEY };
      return createSavedRecords({ ...needs, now: () => at().clock() }, maxBytes);
    };

    it("lies in the server's own records, sealed, for a day", async () => {
      const saved = await openRecords(1_000_000_000);
      const host = await connect({ saved });
      const { uri, rows } = await save(host, "disputes_list", { fields: ["*"] });
      expect(rows).toBe(ROWS);
      const { text = "" } = await read(host, uri);
      expect(readTable(text)).toHaveLength(ROWS + 1);
      const { read: db } = await at().oauthStore();
      const parts = await db.selectFrom("sign_in_records").selectAll().execute();
      const own = parts.filter(({ kind }) => kind === "SavedPart");
      expect(own.length).toBeGreaterThan(1);
      expect(own.some(({ payload }) => payload.includes("disputeCode"))).toBe(false);
      at().clock.advance(DAY + 1);
      await expect(read(host, uri)).rejects.toThrow(/not found/);
    });

    it("names the cause where the records fail", async () => {
      const refuse = () => Promise.reject(new Error("database is locked"));
      const storage = { ...createStorage(await at().oauthStore(), at().clock), upsert: refuse };
      const needs = { storage: async () => storage, key: async () => MASTER_KEY, now: at().clock };
      const host = await connect({ saved: createSavedRecords(needs, 1_000_000_000) });
      const problem = readProblem(await host.call("disputes_list", { save: "csv" }));
      expect([problem.code, problem.message]).toEqual([
        "unavailable",
        expect.stringContaining("cannot use its own records now"),
      ]);
    });

    it("has the tenant's quota, and leaves nothing of what exceeds it", async () => {
      const host = await connect({ saved: await openRecords(10_000) });
      const problem = readProblem(await host.call("disputes_list", { save: "csv" }));
      expect(problem.code).toBe("storage_quota_exceeded");
    });
  });
});

verifies("WK-90");
it("counts against the tenant's quota", async () => {
  const at = await startPlatform(undefined, { tenantFileBytes: 4096 });
  const tenant = { at, tenantId: "small", admin: await at.tenant("small") };
  await fillDisputes(at.store, "small", 300, at.clock());
  const broker = await createTenantBroker(tenant);
  const saved = at.platform.savedFiles;
  const host = await connectModern(await createOptions(broker, { now: at.clock, saved }));
  const result = await host.call("disputes_list", { save: "csv" });
  expect(readProblem(result).code).toBe("storage_quota_exceeded");
  expect(await readdir(at.files)).not.toContain("saved");
  await broker.close();
  await at.close();
});
