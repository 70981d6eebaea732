import { beforeAll, expect, it } from "vitest";
import { importDisputes, importPayments, importRecords } from "../support/importing.ts";
import { accountAt, documentAt, useIngestTenant } from "../support/ingest.ts";
import { configure, DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "amounts";
/** Above 15 digits before the decimal point, or more digits than a double holds. */
const TOO_LARGE = [
  "1e300",
  `1${"0".repeat(300)}`,
  "1000000000000000",
  "-1000000000000000",
  "1234567890123456",
];

type Row = Record<string, string | number>;

const csv = (...rows: Row[]): string => {
  const columns = Object.keys(rows[0] ?? {});
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((cells) => `${cells.join(",")}\n`)
    .join("");
};

// JSON.stringify would write another number than the file has.
const ndjson = (...rows: Row[]): string =>
  rows
    .map((row) => {
      const fields = Object.entries(row).map(([name, value]) => {
        const isAmount = ["amount", "denomination", "paymentAmount"].includes(name);
        return `${JSON.stringify(name)}:${isAmount ? value : JSON.stringify(value)}`;
      });
      return `{${fields.join(",")}}\n`;
    })
    .join("");

const FORMATS = [
  ["csv", csv],
  ["ndjson", ndjson],
] as const;

verifies("C-100");
onEveryStore("amounts that are too large in an import file", (at) => {
  const admin = useTenant(at, TENANT);
  const call = useIngestTenant(at, "amounts-documents");
  beforeAll(async () => {
    await configure(admin);
    const account = { account_number: "A", name: "A", currency: "USD" };
    const made = await call("POST", accountAt("A"), { body: account });
    if (made.status !== 201) throw new Error(made.text);
  });

  it.each(FORMATS)(
    "reject their rows of disputes in %s and write nothing",
    async (format, write) => {
      const row = (documentNumber: string, amount: string): Row => ({
        documentNumber,
        accountNumber: "A",
        amount,
        reasonCode: "WRONG",
      });
      const large = TOO_LARGE.map((amount, index) => row(`${format}-${index}`, amount));
      const { counts, rejects } = await importDisputes(at(), TENANT, write(...large), { format });
      expect(counts).toMatchObject({ read: large.length, written: 0, rejected: large.length });
      expect(rejects).toHaveLength(large.length);
      for (const { field } of rejects) expect(field).toBe("amount");
      expect((await admin.call("GET", DISPUTES)).body).toEqual([]);
    },
  );

  it.each(FORMATS)(
    "reject their rows of documents in %s and write nothing",
    async (format, write) => {
      const row = (document_number: string, denomination: string): Row => ({
        document_number,
        account_number: "A",
        invoice_date: "2026-01-31",
        due_date: "2026-03-02",
        denomination,
      });
      const large = TOO_LARGE.map((amount, index) => row(`${format}-${index}`, amount));
      const good = row(`${format}-good`, "12.5");
      const { counts } = await importRecords(
        at(),
        "amounts-documents",
        "documents",
        write(...large, good),
        {
          format,
        },
      );
      expect(counts).toMatchObject({ written: 1, rejected: large.length });
      for (const [index] of large.entries()) {
        expect((await call("GET", documentAt(`${format}-${index}`))).status).toBe(404);
      }
      expect((await call("GET", documentAt(`${format}-good`))).body.denomination).toBe(12.5);
    },
  );

  it.each(FORMATS)(
    "reject their rows of payments in %s and write nothing",
    async (format, write) => {
      const row = (paymentId: string, amount: string): Row => ({
        paymentId,
        paymentDate: "2026-01-31",
        currencyCode: "USD",
        paymentAmount: amount,
      });
      const large = TOO_LARGE.map((amount, index) => row(`${format}-${index}`, amount));
      const good = row(`${format}-good`, "12.5");
      const target = { tenantId: TENANT, source: "cashapp" } as const;
      const { counts, rejects } = await importPayments(at(), target, write(...large, good), {
        format,
      });
      expect(counts).toMatchObject({ written: 1, rejected: large.length });
      for (const { field } of rejects) expect(field).toBe("paymentAmount");
      const caller = await at().exportCaller(TENANT);
      const query = { source: "cashapp", fields: ["paymentId", "paymentAmount"] };
      const path = "/api/v1/remittance-export/payments/query";
      const { body } = await caller("POST", path, { body: query });
      expect(body.data).toContainEqual({ paymentId: `${format}-good`, paymentAmount: 12.5 });
      expect(body.data.length).toBeLessThanOrEqual(FORMATS.length);
    },
  );
});
