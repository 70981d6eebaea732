import { beforeAll, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { AUDIT_LOGS, rowsOf } from "../support/audit.ts";
import { importRecords } from "../support/importing.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const many = Array.from({ length: 10 }, (_, index) => [`key-${index}`, "x".repeat(1100)]);

onEveryStore("imported audit entries", (at) => {
  const old = (number: number, more: object = {}) => ({
    id: `old-${number}`,
    method: "POST",
    endpoint: "/payments/query",
    statusCode: 200,
    metadata: { source: "iandp", rowCount: number },
    timestamp: new Date(at().clock() - (40 - number) * DAY).toISOString(),
    ...more,
  });
  const importing = (rows: readonly object[]) =>
    importRecords(
      at(),
      "imported",
      "audit-logs",
      rows.map((row) => JSON.stringify(row)).join("\n"),
      {
        format: "ndjson",
      },
    );
  const listed = async (query = "") => {
    const read = await at().exportCaller("imported", ["audit:read"]);
    return (await read("GET", `${AUDIT_LOGS}${query}`)).body.data;
  };

  beforeAll(async () => {
    await at().tenant("imported");
  });

  verifies("AU-05", "AU-06");
  it("entries from before the action field list without it, in their order of time", async () => {
    await listed();
    const { counts } = await importing([old(2), old(3, { action: "schedule.created" }), old(1)]);
    expect(counts).toMatchObject({ read: 3, written: 3, rejected: 0 });
    const entries = await listed();
    expect(entries[0].action).toBe("audit.queried");
    const imported = entries.filter(({ id }: { id: string }) => id.startsWith("old-"));
    expect(imported.map(({ id }: { id: string }) => id)).toEqual(["old-3", "old-2", "old-1"]);
    expect(entries.slice(-3)).toEqual(imported);
    expect(imported[2]).toStrictEqual({ ...old(1), tenantId: "imported" });
    expect(imported[0].action).toBe("schedule.created");
    expect(await listed("?q=IANDP")).toHaveLength(3);
    expect(await verifyAudit(at(), "imported")).toMatchObject({ ok: true });
  });

  verifies("AU-05");
  it("writes nothing when the file is imported again", async () => {
    await importing([old(4)]);
    const before = await rowsOf(at().store.read, "imported");
    expect((await importing([old(4), old(4)])).counts).toMatchObject({ unchanged: 2, written: 0 });
    const { counts, rejects } = await importing([old(4, { statusCode: 500 })]);
    expect(counts).toMatchObject({ rejected: 1, written: 0 });
    expect(rejects[0]).toMatchObject({ line: 1, field: "id", code: "conflict" });
    expect(await rowsOf(at().store.read, "imported")).toEqual(before);
  });

  verifies("MN-04");
  it("refuses entries of one id and time that contradict each other, by both lines", async () => {
    const { counts, rejects } = await importing([old(6), old(7), old(6, { statusCode: 500 })]);
    expect(counts).toMatchObject({ read: 3, written: 1, rejected: 2 });
    expect(rejects.map(({ line, code, message }) => [line, code, message.split(",")[0]])).toEqual([
      [1, "contradiction", "stands in line 3 too"],
      [3, "contradiction", "stands in line 1 too"],
    ]);
  });

  it.each([
    ["without an id", { id: undefined }, "id"],
    ["of a method in lower case", { method: "get" }, "method"],
    ["of no status", { statusCode: 99 }, "statusCode"],
    ["of another tenant", { tenantId: "else" }, "tenantId"],
    ["of tomorrow", { timestamp: "2999-01-01T00:00:00Z" }, "timestamp"],
    ["of a day without time", { timestamp: "2026-01-01" }, "timestamp"],
    ["with nested metadata", { metadata: { a: { b: 1 } } }, "metadata.a"],
    ["with metadata that no database can keep", { metadata: { runId: "\0" } }, "metadata.runId"],
    ["with too much metadata", { metadata: Object.fromEntries(many) }, "metadata"],
  ])("refuses an entry %s", async (_what, wrong, field) => {
    const { counts, rejects } = await importing([old(5, wrong)]);
    expect(counts).toMatchObject({ rejected: 1, written: 0 });
    expect(rejects[0]?.field).toBe(field);
  });

  it("reads CSV, with metadata as JSON in a cell and a blank action", async () => {
    const csv = `id,method,endpoint,action,statusCode,metadata,timestamp\ncsv-1,GET,/schedules,,200,"{""scheduleId"":""s-1""}",2026-01-02T03:04:05+01:00\n`;
    const { counts } = await importRecords(at(), "imported", "audit-logs", csv);
    expect(counts).toMatchObject({ written: 1 });
    expect(await listed("?scheduleId=s-1")).toEqual([
      {
        id: "csv-1",
        method: "GET",
        endpoint: "/schedules",
        statusCode: 200,
        metadata: { scheduleId: "s-1" },
        tenantId: "imported",
        timestamp: "2026-01-02T02:04:05.000Z",
      },
    ]);
  });
});
