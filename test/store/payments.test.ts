import { zstdDecompressSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { CATALOGUE } from "../../src/contract/payments/catalogue.ts";
import { parseFilter } from "../../src/contract/payments/filter.ts";
import { findLastSeq, streamPayments } from "../../src/platform/store/queries/payments.ts";
import { onEveryStore } from "../support/platform.ts";
import { kept } from "../support/payment-model.ts";
import { load, paymentRow, paymentRows } from "../support/payment-rows.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "stream";
const COUNT = 11_000;
const { fields } = CATALOGUE.bpn;

onEveryStore("streams of payment rows", (at) => {
  const rows = paymentRows("bpn", COUNT);
  const filterOf = (sent: unknown) => parseFilter("bpn", sent).filter;

  beforeAll(async () => {
    await at().tenant(TENANT);
    await load(at(), TENANT, "bpn", rows);
  });

  verifies("C-12", "SC-10");
  it("give every row of a filter as of one instant, without later changes", async () => {
    const filters = { paymentMethod: { eq: "wire" } };
    const snapshot = await at().store.snapshot({ owner: "test" });
    const upTo = await findLastSeq(snapshot.db, TENANT, "bpn");
    await load(at(), TENANT, "bpn", [
      { ...paymentRow("bpn", 3), payerName: "changed since" },
      { ...paymentRow("bpn", COUNT + 1), paymentMethod: "wire" },
    ]);
    const scan = { tenantId: TENANT, source: "bpn" as const, filter: filterOf(filters), after: 0 };
    const read: Record<string, unknown>[] = [];
    for await (const { bytes, rowCount } of streamPayments(
      snapshot.db,
      { ...scan, upTo },
      fields,
    )) {
      const some = JSON.parse(`[${String(Buffer.from(bytes))}]`) as Record<string, unknown>[];
      expect(some).toHaveLength(rowCount);
      read.push(...some);
    }
    await snapshot.close();
    const expected = rows.filter((row) => kept(row, filters));
    expect(read.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(read.some(({ payerName }) => payerName === "changed since")).toBe(false);
    expect(await findLastSeq(at().store.read, TENANT, "bpn")).toBe(COUNT + 1);
  });

  it("give many rows as one compressed frame where the store can, and the others as text", async () => {
    const { filter } = parseFilter("bpn", undefined);
    const scan = { tenantId: TENANT, source: "bpn" as const, filter, after: 0, upTo: COUNT };
    const ids: string[] = [];
    const frames: number[] = [];
    const id = fields.slice(0, 1);
    for await (const { bytes, rowCount, isFrame } of streamPayments(at().store.read, scan, id)) {
      if (isFrame === true) frames.push(rowCount);
      const text = String(isFrame === true ? zstdDecompressSync(bytes) : Buffer.from(bytes));
      const some = JSON.parse(`[${text}]`) as { id: string }[];
      expect(some).toHaveLength(rowCount);
      ids.push(...some.map((row) => row.id));
    }
    expect(ids.toSorted()).toEqual(rows.map((row) => String(row["id"])).toSorted());
    expect(frames).toEqual(at().store.dialect === "sqlite" ? [10_000] : []);
  });

  it("find the same rows by an index of few, an index of many and no index", async () => {
    const sets = [
      { accountNumber: { eq: rows[4]?.["accountNumber"] } },
      { networkPaymentId: { in: ["P-7", "P-9", "P-10999", "nothing"] } },
      { updatedAt: { gte: "2000-01-01" }, payerName: { contains: "acme" } },
      { payerName: { contains: "CME" } },
      { payerName: { endsWith: "2" } },
      // More values than are read from an index.
      { networkPaymentId: { contains: "-77" } },
      { networkPaymentId: { startsWith: "p-1" }, paymentMethod: { ne: "check" } },
      { paymentDate: { between: ["2026-03-01", "2026-03-09"] } },
    ];
    for (const filters of sets) {
      const scan = { tenantId: TENANT, source: "bpn" as const, after: 0, upTo: COUNT };
      const found: string[] = [];
      const filter = filterOf(filters);
      const id = fields.slice(0, 1);
      for await (const { bytes } of streamPayments(at().store.read, { ...scan, filter }, id)) {
        found.push(
          ...(JSON.parse(`[${String(Buffer.from(bytes))}]`) as { id: string }[]).map(
            (row) => row.id,
          ),
        );
      }
      const updatedAt = "2026-01-01T00:00:00.000Z";
      const expected = rows.filter(
        (row) => row["id"] !== "bpn-3" && kept({ ...row, updatedAt }, filters),
      );
      expect(found.filter((name) => name !== "bpn-3")).toEqual(expected.map((row) => row["id"]));
      expect(found).not.toEqual([]);
    }
  });
});
