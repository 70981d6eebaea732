import { beforeAll, expect, it } from "vitest";
import { DAY, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import {
  importDisputes,
  findDispute,
  listDisputes,
  NONE,
  toCsv,
  type Listed,
} from "../support/importing.ts";
import {
  CONFIGURATION,
  configure,
  DISPUTES,
  onEveryStore,
  type Person,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("import of disputes that are known", (at) => {
  const admin = useTenant(at, "known");
  const base = { accountNumber: "A-1", documentNumber: "", amount: 10, reasonCode: "WRONG" };
  const bring = async (row: Record<string, string | number>) => {
    const map = Object.fromEntries(Object.keys(row).map((name) => [name, name]));
    const sourceKey = "documentNumber";
    const { counts, rejects } = await importDisputes(at(), "known", toCsv(row), {
      map: { ...map, sourceKey },
    });
    expect(rejects).toEqual([]);
    return counts;
  };
  const change = (dispute: Listed, body: object) =>
    admin.call("PUT", `${DISPUTES}/${dispute.disputeId}`, { body });
  beforeAll(() => configure(admin));

  it("changes the dispute of a known key, and keeps its id and code", async () => {
    const row = { ...base, documentNumber: "K-1" };
    await bring({ ...row, poNumber: "P-1" });
    const before = await findDispute(admin, "K-1");
    const etag = (await admin.call("GET", `${DISPUTES}/${before.disputeId}`)).headers.get("etag");
    at().clock.advance(MINUTE);
    expect(await bring({ ...row, amount: 12, poNumber: "" })).toMatchObject({ written: 1 });
    const after = await findDispute(admin, "K-1");
    expect(after).toEqual({ ...before, amount: 12, updateDate: formatTimestamp(at().clock()) });
    const { headers } = await admin.call("GET", `${DISPUTES}/${before.disputeId}`);
    expect(headers.get("etag")).not.toBe(etag);
  });

  it("opens, closes and cancels according to the source", async () => {
    const row = { ...base, documentNumber: "K-2" };
    const steps = [
      [{ status: 1, closedDate: "2026-01-09", resolutionCode: "CREDIT" }, true, "2026-01-09"],
      [{ status: 0 }, false, null],
      [{ status: 2, closedDate: "2026-01-11" }, false, "2026-01-11"],
      [{ status: 1, closedDate: "2026-01-12" }, false, "2026-01-12"],
      [{ status: 1, closedDate: "2026-01-13", resolutionCode: "CREDIT" }, true, "2026-01-13"],
    ] as const;
    for (const [said, isValid, day] of steps) {
      expect(await bring({ ...row, ...said })).toMatchObject({ written: 1 });
      expect(await findDispute(admin, "K-2")).toMatchObject({
        status: said.status,
        isValid,
        closedDate: day === null ? null : `${day}T00:00:00.000Z`,
        resolutionCode: "resolutionCode" in said ? "CREDIT" : null,
      });
    }
  });

  it("writes changes of the source, and keeps changes by people", async () => {
    const row = { ...base, documentNumber: "K-3", poNumber: "P-1", status: 0 };
    await bring(row);
    const dispute = await findDispute(admin, "K-3");
    await change(dispute, { amount: 7, assigneeEmail: "ana@sales.example", poNumber: "MINE" });
    await change(dispute, { status: 1, resolutionCode: "CREDIT" });
    const worked = await findDispute(admin, "K-3");
    expect(await bring(row)).toMatchObject({ unchanged: 1 });
    expect(await findDispute(admin, "K-3")).toEqual(worked);
    expect(await bring({ ...row, poNumber: "P-2" })).toMatchObject({ written: 1 });
    expect(await findDispute(admin, "K-3")).toMatchObject({
      amount: 7,
      assigneeName: "Ana Silva",
      status: 1,
      resolutionCode: "CREDIT",
      poNumber: "P-2",
    });
  });

  it("counts a dispute as unchanged if people made the same change before", async () => {
    const row = { ...base, documentNumber: "K-4" };
    await bring(row);
    const dispute = await findDispute(admin, "K-4");
    await change(dispute, { amount: 9 });
    const before = await findDispute(admin, "K-4");
    at().clock.advance(MINUTE);
    expect(await bring({ ...row, amount: 9 })).toMatchObject({ unchanged: 1 });
    expect(await findDispute(admin, "K-4")).toEqual(before);
    expect(await bring({ ...row, amount: 10 })).toMatchObject({ written: 1 });
  });

  verifies("IN-21");
  it("records a reopening, so that a summary of a day before knows that the dispute had ended", async () => {
    const row = { ...base, documentNumber: "K-9", createDate: "2025-11-01" };
    await bring({ ...row, status: 1, closedDate: "2025-11-20" });
    at().clock.advance(MINUTE);
    await bring({ ...row, status: 0 });
    const statusOn = async (asOf: string) => {
      const body = { documentNumber: "K-9", asOf, groupBy: ["status"] };
      const { items } = (await admin.call("POST", `${DISPUTES}/summary`, { body })).body;
      return items.map(({ key }: { key: { status: string } }) => key.status);
    };
    expect(await statusOn("2025-11-19")).toEqual(["Open"]);
    expect(await statusOn("2025-11-20")).toEqual(["Closed"]);
  });

  it("creates a deleted dispute again, with a new code", async () => {
    const row = { ...base, documentNumber: "K-5" };
    await bring(row);
    const { disputeId } = await findDispute(admin, "K-5");
    await admin.call("DELETE", `${DISPUTES}/${disputeId}`);
    expect(await bring(row)).toMatchObject({ written: 1 });
    expect(await findDispute(admin, "K-5")).toMatchObject({ disputeCode: "D-K-5-02" });
  });

  it("identifies a row without a source key by account, document and date", async () => {
    const row = { accountNumber: "A-1", documentNumber: "K-6", amount: 1, reasonCode: "WRONG" };
    const add = (...rows: Record<string, string | number>[]) =>
      importDisputes(at(), "known", toCsv(...rows));
    const dated = { ...row, createDate: "2026-01-01" };
    expect((await add(row, dated)).counts).toMatchObject({ written: 2 });
    const timed = { ...dated, createDate: "2026-01-01T00:00:00Z" };
    expect((await add(timed)).counts).toMatchObject({ unchanged: 1 });
    at().clock.advance(DAY);
    expect((await add(row, dated)).counts).toMatchObject({ unchanged: 2 });
    expect((await add({ ...row, accountNumber: "A-2" })).counts).toMatchObject({ written: 1 });
    expect(await listDisputes(admin, "?DocumentNumber=K-6")).toHaveLength(3);
  });

  verifies("MN-04");
  it("opens a dispute for each of several deductions of one document on one day", async () => {
    const row = { ...base, documentNumber: "K-7" };
    const rows = [15, 40, 25].map((amount) => ({ ...row, amount }));
    const add = () => importDisputes(at(), "known", toCsv(...rows));
    expect((await add()).counts).toMatchObject({ written: 3 });
    const found = await listDisputes(admin, "?DocumentNumber=K-7");
    expect(found.map(({ amount }) => Number(amount)).toSorted((a, b) => a - b)).toEqual([
      15, 25, 40,
    ]);
    expect((await add()).counts).toMatchObject({ written: 0, unchanged: 3 });
  });

  verifies("MN-04");
  it("refuses rows of one source key that contradict each other, by both lines", async () => {
    const row = { ...base, documentNumber: "K-9" };
    const map = {
      ...Object.fromEntries(Object.keys(base).map((name) => [name, name])),
      sourceKey: "documentNumber",
    };
    const text = toCsv({ ...row, amount: 1 }, { ...row, amount: 2 });
    const { counts, rejects } = await importDisputes(at(), "known", text, { map });
    expect(counts).toMatchObject({ written: 0, rejected: 2 });
    expect(rejects.map(({ line, message }) => [line, /line (\d)/.exec(message)?.[1]])).toEqual([
      [2, "3"],
      [3, "2"],
    ]);
  });

  it("accepts keys of any length", async () => {
    const long = { ...base, documentNumber: "K-8" };
    const map = {
      ...Object.fromEntries(Object.keys(base).map((name) => [name, name])),
      sourceKey: ["documentNumber", "note"],
    };
    const row = { ...long, note: "n".repeat(5000) };
    expect((await importDisputes(at(), "known", toCsv(row), { map })).counts.written).toBe(1);
    expect((await importDisputes(at(), "known", toCsv(row), { map })).counts.unchanged).toBe(1);
    const other = { ...long, note: `${"n".repeat(4999)}m` };
    expect((await importDisputes(at(), "known", toCsv(other), { map })).counts.written).toBe(1);
  });
});

onEveryStore("import of disputes into a tenant without configuration", (at) => {
  const row = { accountNumber: "A", documentNumber: "D", amount: 5 };
  const add = (tenantId: string, text: string, createConfiguration = true) =>
    importDisputes(at(), tenantId, text, { createConfiguration });
  const list = async (who: Person, path: string) =>
    (await who.call("GET", `${CONFIGURATION}${path}`)).body;

  it("creates the configuration that rows name, if the option is set", async () => {
    const admin = await at().tenant("empty");
    const file = toCsv(
      { ...row, documentNumber: "1", categoryCode: "Price", reasonCode: "R1" },
      { ...row, documentNumber: "2", categoryCode: "PRICE", reasonCode: "R2" },
      { ...row, documentNumber: "3", categoryCode: "Freight", reasonCode: "R1" },
      { ...row, documentNumber: "4", categoryCode: "price", reasonCode: "" },
    );
    expect((await add("empty", file, false)).counts).toMatchObject({ rejected: 4 });
    expect(await list(admin, "/categories")).toEqual([]);
    expect((await add("empty", file)).counts).toMatchObject({ written: 4, rejected: 0 });
    expect(await list(admin, "/categories")).toMatchObject([
      { code: "Freight", description: "Freight", defaultInternalReasonCode: "R1" },
      {
        code: "Price",
        description: "Price",
        defaultInternalReasonCode: "R1",
        createUser: "import",
      },
    ]);
    const reasons = await list(admin, "/reasons");
    expect(reasons).toHaveLength(3);
    expect(reasons[0]).toMatchObject({ description: "R1", visibility: "Internal", active: true });
    expect(await findDispute(admin, "4")).toMatchObject({
      categoryName: "Price",
      reasonName: "R1",
    });
  });

  it("creates no configuration for a refused or incomplete row", async () => {
    const admin = await at().tenant("sparse");
    const { counts, rejects } = await add(
      "sparse",
      toCsv(
        { ...row, categoryCode: "NEW", reasonCode: "R", amount: 0 },
        { ...row, categoryCode: "NEW", reasonCode: "R", assigneeEmail: "no@body.example" },
        { ...row, categoryCode: "NEW", reasonCode: "" },
        { ...row, categoryCode: "", reasonCode: "R" },
        { ...row, categoryCode: "", reasonCode: "" },
      ),
    );
    expect(counts).toMatchObject({ written: 0, rejected: 5 });
    expect(rejects.map(({ field, code }) => [field, code])).toEqual([
      ["amount", "range"],
      ["assigneeEmail", "unknown_reference"],
      ["reasonCode", "required"],
      ["categoryCode", "required"],
      ["reasonCode", "required"],
    ]);
    expect(await list(admin, "/categories")).toEqual([]);
  });

  it("keeps the default reason of an existing category", async () => {
    const admin = await at().tenant("there");
    const body = { code: "C", description: "Mine" };
    await admin.call("POST", `${CONFIGURATION}/categories`, { body });
    await add("there", toCsv({ ...row, categoryCode: "c", reasonCode: "R" }));
    expect(await list(admin, "/categories")).toMatchObject([
      { code: "C", description: "Mine", defaultInternalReasonId: null },
    ]);
  });
});

onEveryStore("import as a whole", (at) => {
  const admin = useTenant(at, "whole");
  beforeAll(() => configure(admin));
  const rows = (from: number, count: number) =>
    toCsv(
      ...Array.from({ length: count }, (_, place) => ({
        accountNumber: "A",
        documentNumber: `W-${from + place}`,
        amount: 1,
        reasonCode: "WRONG",
      })),
    );

  it("reads numbers of NDJSON as numbers", async () => {
    const base = { accountNumber: "A", documentNumber: "N-1", amount: 5.5, reasonCode: "WRONG" };
    const lines = [
      { ...base, status: 1, closedDate: null, unknown: { a: 1 } },
      { ...base, documentNumber: "N-2", amount: "5.5" },
      { ...base, documentNumber: 3 },
    ].map((line) => JSON.stringify(line));
    const exact =
      '{"accountNumber":"A","documentNumber":"N-4","amount":1.0000000000000001,"reasonCode":"WRONG"}';
    const { counts, rejects } = await importDisputes(
      at(),
      "whole",
      [...lines, "{", exact].join("\n"),
      { format: "ndjson" },
    );
    expect(counts).toEqual({ ...NONE, read: 5, written: 1, rejected: 4 });
    expect(rejects).toMatchObject([
      { line: 2, field: "amount", code: "type", row: { documentNumber: "N-2" } },
      { line: 3, field: "documentNumber", code: "type" },
      { line: 4, field: "", code: "invalid_json", row: "{" },
      { line: 5, field: "amount", code: "type" },
    ]);
    expect(await findDispute(admin, "N-1")).toMatchObject({ amount: 5.5, status: 1 });
  });

  it("reports its progress after each batch", async () => {
    const { progress, counts } = await importDisputes(at(), "whole", rows(0, 1100));
    expect(progress.map(({ read }) => read)).toEqual([500, 1000, 1100]);
    expect(counts).toMatchObject({ read: 1100, written: 1100 });
  });

  it("stops between batches when it is aborted, and continues when it runs again", async () => {
    const ended = AbortSignal.abort();
    const text = rows(2000, 700);
    await expect(importDisputes(at(), "whole", text, { ended })).rejects.toThrow(/500 rows/);
    const { counts } = await importDisputes(at(), "whole", text);
    expect(counts).toMatchObject({ read: 700, written: 200, unchanged: 500 });
  });

  it("allows concurrent imports of one file by several processes", async () => {
    const text = rows(4000, 600);
    const both = await Promise.all([1, 2].map(() => importDisputes(at(), "whole", text)));
    const [a, b] = both.map(({ counts }) => counts);
    expect((a?.written ?? 0) + (b?.written ?? 0)).toBe(600);
    expect((a?.unchanged ?? 0) + (b?.unchanged ?? 0)).toBe(600);
  });
});
