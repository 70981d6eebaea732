import { beforeAll, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { findAccounts } from "../../src/platform/store/queries/accounts.ts";
import { findDocuments, listClosuresOf } from "../../src/platform/store/queries/documents.ts";
import { importRecords } from "../support/importing.ts";
import { ingestTenant } from "../support/ingest.ts";
import { onEveryStore } from "../support/platform.ts";

const NDJSON = { format: "ndjson" as const };
const MANY = 300;
const PLAIN = { read: MANY, written: MANY, unchanged: 0, skipped: 0, rejected: 0 };

const ndjson = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** Texts that a bulk protocol or a list of values could misread. */
const STRANGE = [
  "\\N",
  "\\.",
  "a\\tb",
  "tab\tand\nlines\r\n",
  '{"quoted","and,commas"}',
  "null",
  "NULL",
  "O'Brien; --",
  "Zoë 😀 \u2028",
  "\\",
  "",
];

const textAt = (place: number): string => STRANGE[place % STRANGE.length] ?? "";

const numberAt = (place: number): string => `D ${place} {"\\${place % 7}',}`;

const documentAt = (place: number, more: object = {}) => ({
  document_number: numberAt(place),
  account_number: "A-1",
  invoice_date: "2026-01-31",
  due_date: "2026-03-02",
  denomination: (place + 1) / 100,
  description: `${place} ${textAt(place)}`,
  ...more,
});

const accountAt = (place: number, more: object = {}) => ({
  account_number: numberAt(place),
  name: `n${textAt(place)}`,
  currency: "USD",
  ...more,
});

const documents = (from: number, to: number, more: object = {}): object[] =>
  Array.from({ length: to - from }, (_, index) => documentAt(from + index, more));

const accounts = (from: number, to: number, more: object = {}): object[] =>
  Array.from({ length: to - from }, (_, index) => accountAt(from + index, more));

const numbers = (to: number): string[] => Array.from({ length: to }, (_, place) => numberAt(place));

onEveryStore("import of many records at once", (at) => {
  beforeAll(async () => {
    await ingestTenant(at(), "many");
  });

  const stored = async (kind: "documents" | "accounts", to: number) => {
    const { read } = at().store;
    const found =
      kind === "documents"
        ? (await findDocuments(read, "many", numbers(to))).map((row) => ({
            number: row.document_number,
            ...row,
          }))
        : (await findAccounts(read, "many", numbers(to))).map((row) => ({
            number: row.account_number,
            ...row,
          }));
    const byNumber = new Map(found.map((row) => [row.number, row]));
    return numbers(to).map((number) => {
      const row = byNumber.get(number);
      if (row === undefined) throw new Error(`${number} is not there`);
      return { ...row, said: JSON.parse(row.fields) as Record<string, unknown> };
    });
  };

  it("stores any text, and numbers new disputes in the order of their rows", async () => {
    const { counts } = await importRecords(
      at(),
      "many",
      "documents",
      ndjson(documents(0, MANY)),
      NDJSON,
    );
    expect(counts).toEqual(PLAIN);
    for (const [place, row] of (await stored("documents", MANY)).entries()) {
      expect(row).toMatchObject({ csr_id: place + 1, version: 1, status: "open", currency: null });
      expect(row.said["description"]).toBe(`${place} ${textAt(place)}`);
      expect(row.said["denomination"]).toBe((place + 1) / 100);
    }
  });

  it("changes, adds and keeps rows in mixed order", async () => {
    const before = await stored("documents", MANY);
    at().clock.advance(MINUTE);
    const text = ndjson([
      ...documents(0, 100),
      documentAt(100, { denomination: 7 }),
      ...documents(101, MANY, { denomination: 0 }),
      ...documents(MANY, MANY + 100, { denomination: 0 }),
    ]);
    const run = () => importRecords(at(), "many", "documents", text, NDJSON);
    const { counts } = await run();
    expect(counts).toEqual({ ...PLAIN, read: 400, written: 300, unchanged: 100 });
    const after = await stored("documents", MANY + 100);
    expect(after.slice(0, 100)).toEqual(before.slice(0, 100));
    expect(after[100]).toMatchObject({ csr_id: 101, version: 2, status: "open" });
    for (const [index, row] of after.slice(101).entries()) {
      const place = index + 101;
      const version = place < MANY ? 2 : 1;
      expect(row).toMatchObject({ csr_id: place + 1, version, status: "closed" });
    }
    const closures = await listClosuresOf(at().store.read, "many", [numberAt(MANY - 1)]);
    expect(closures).toMatchObject([{ number: 1, source: "auto", closure_reason: null }]);
  });

  it("continues over several batches, although a row is refused", async () => {
    const rows = 5200;
    const text = ndjson(
      Array.from({ length: rows }, (_, place) => ({
        document_number: `B-${place}`,
        account_number: "A-1",
        invoice_date: place % 1000 === 999 ? "2026-02-30" : "2026-01-31",
        due_date: "2026-03-02",
        denomination: 1,
      })),
    );
    const { counts, rejects, progress } = await importRecords(
      at(),
      "many",
      "documents",
      text,
      NDJSON,
    );
    expect(counts).toEqual({ ...PLAIN, read: rows, written: rows - 5, rejected: 5 });
    expect(rejects.map(({ line }) => line)).toEqual([1000, 2000, 3000, 4000, 5000]);
    const sofar = progress.map(({ read }) => read);
    expect(sofar.length).toBeGreaterThan(2);
    expect(sofar).toEqual(sofar.toSorted((a, b) => a - b));
    const all = Array.from({ length: rows }, (_, place) => `B-${place}`);
    const found = await findDocuments(at().store.read, "many", all);
    const ids = found.map((row) => row.csr_id).toSorted((a, b) => a - b);
    const [first = 0] = ids;
    expect(ids).toEqual(Array.from({ length: rows - 5 }, (_, place) => first + place));
    const again = await importRecords(at(), "many", "documents", text, NDJSON);
    expect(again.counts).toEqual({ ...counts, written: 0, unchanged: rows - 5 });
  });

  it("treats accounts alike", async () => {
    const first = await importRecords(at(), "many", "accounts", ndjson(accounts(0, MANY)), NDJSON);
    expect(first.counts).toEqual(PLAIN);
    const before = await stored("accounts", MANY);
    at().clock.advance(MINUTE);
    const more = [...accounts(0, 200, { language: "en" }), ...accounts(200, MANY + 60)];
    const { counts } = await importRecords(at(), "many", "accounts", ndjson(more), NDJSON);
    expect(counts).toEqual({ ...PLAIN, read: 360, written: 260, unchanged: 100 });
    const after = await stored("accounts", MANY + 60);
    expect(after.slice(200, MANY)).toEqual(before.slice(200));
    for (const [place, row] of after.entries()) {
      const version = place < 200 ? 2 : 1;
      expect(row).toMatchObject({ csr_id: place + 1, version, name: `n${textAt(place)}` });
    }
  });
});
