import { Problem } from "../../src/contract/errors.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { listDoubts, settleDoubt } from "../../src/platform/admin/doubts.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import type { Format } from "../../src/platform/import/formats.ts";
import type { Kind } from "../../src/platform/import/kinds.ts";
import { importText } from "./importing.ts";
import { QUERY } from "./payment-rows.ts";
import type { TestPlatform } from "./platform.ts";

type Row = Record<string, unknown>;

type How = Partial<Omit<Parameters<typeof importText>[4] & object, "format">> & {
  format?: Format;
};

const FIELDS = [
  "paymentId",
  "paymentAmount",
  "currencyCode",
  "paymentDate",
  "payerName",
  "documentNumber",
  "invoiceNumber",
  "poNumber",
  "appliedAmount",
  "unappliedAmount",
  "discountTaken",
  "deductionAmount",
  "deductionReasonCode",
  "shortPay",
  "applicationStatus",
  "matchMethod",
  "remittanceText",
  "feeAmount",
  "returnReason",
  "returnedPaymentId",
  "doubt",
];

/** A payment with its rows added up. */
export type Paid = {
  id: string;
  amount: number;
  currency: string;
  day: string;
  applied: number;
  unapplied: number;
  discount: number;
  /** The amounts that are applied to documents. */
  documents: Record<string, number>;
  /** The amounts that were deducted, by reason. */
  deductions: Record<string, number>;
  rows: readonly Row[];
};

const add = (sums: Record<string, number>, name: string, amount: unknown): void => {
  if (typeof amount !== "number" || amount === 0) return;
  sums[name] = Math.round(((sums[name] ?? 0) + amount) * 1000) / 1000;
};

const toPaid = (rows: readonly Row[]): Paid => {
  const [first = {}] = rows;
  const documents: Record<string, number> = {};
  const deductions: Record<string, number> = {};
  const sums: Record<string, number> = {};
  for (const row of rows) {
    add(documents, String(row["documentNumber"]), row["appliedAmount"]);
    add(deductions, String(row["deductionReasonCode"]), row["deductionAmount"]);
    add(sums, "applied", row["appliedAmount"]);
    add(sums, "discount", row["discountTaken"]);
  }
  return {
    id: String(first["paymentId"]),
    amount: Number(first["paymentAmount"]),
    currency: String(first["currencyCode"]),
    day: String(first["paymentDate"]),
    applied: sums["applied"] ?? 0,
    unapplied: Number(first["unappliedAmount"] ?? 0),
    discount: sums["discount"] ?? 0,
    documents,
    deductions,
    rows,
  };
};

const DOCUMENT =
  "document_number,account_number,invoice_num,invoice_date,due_date,currency,original_denomination,denomination";

/** Records that are there before a case: names of accounts, and the amounts of documents of the first one. */
type Before = { accounts?: readonly string[]; documents?: Record<string, string> };

/** Builds the file of open documents of one account. */
export const documentsFile = (
  documents: Record<string, string>,
  currency: string,
  account = "C1",
): string =>
  [
    DOCUMENT,
    ...Object.entries(documents).map(
      ([number, amount]) =>
        `${number},${account},${number},2026-03-01,2026-03-31,${currency},${amount},${amount}`,
    ),
  ].join("\n");

type Doubt = { id: string; paymentIds: string[]; amount: number; reason: string };

/** Tenants of one case each, with the payments that their imports bring. */
export const createMoneyCases = (at: () => TestPlatform) => {
  let tenants = 0;
  let tenantId = "";
  const bring = async (kind: Kind, text: string | Buffer, how: How = {}) => {
    try {
      const done = await importText(at(), tenantId, kind, text, { file: kind, ...how });
      const { read, written, unchanged, skipped, rejected, leftOut } = done.report;
      // MN-02: each record of the file is counted once.
      if (read !== written + unchanged + skipped + rejected + leftOut) {
        throw new Error(`the counts do not add up: ${JSON.stringify(done.counts)}`);
      }
      const exit = rejected > 0 && written + unchanged === 0 ? 1 : 0;
      return { ...done, exit, message: "" };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { exit: 1, message: error.message, report: undefined, rejects: [], warned: [] };
    }
  };
  const start = async (currency: string, { accounts = [], documents = {} }: Before = {}) => {
    tenants += 1;
    tenantId = `case-${tenants}`;
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    await createTenant(needs, { tenantId, name: tenantId, currency });
    if (accounts.length > 0) {
      const lines = accounts.map((name, place) => `C${place + 1},${name},${currency}`);
      await bring("accounts", ["account_number,name,currency", ...lines].join("\n"));
    }
    if (Object.keys(documents).length > 0) {
      await bring("documents", documentsFile(documents, currency));
    }
  };
  const query = async (source: string, fields: readonly string[]): Promise<Row[]> => {
    const call = await at().exportCaller(tenantId);
    const { body, text } = await call("POST", QUERY, { body: { source, fields, limit: 2000 } });
    if (body?.data === undefined) throw new Error(text);
    return body.data;
  };
  /** The payments of the source cashapp. */
  const paid = async (): Promise<Paid[]> => {
    const rows = await query("cashapp", FIELDS);
    return [...Map.groupBy(rows, (row) => row["paymentId"]).values()].map(toPaid);
  };
  const needs = () => {
    const { store, clock } = at();
    const record = createRecordChange({ store, clock, newId: randomId, operator: "tester" });
    return { store, clock, record };
  };
  return {
    tenant: () => tenantId,
    start,
    bring,
    /** Imports payments of the source cashapp; a bank's format is named as the command names it. */
    pay: (text: string | Buffer, how: How = {}) => bring("payments", text, how),
    query,
    paid,
    /** The amounts of the payments, the smallest first. */
    amounts: async () => (await paid()).map(({ amount }) => amount).toSorted((a, b) => a - b),
    /** Lists the doubtful payments. */
    list: async () => (await listDoubts(at().store.read, tenantId)) as Doubt[],
    settle: (as: "same" | "different", id = "") => settleDoubt(needs(), { tenantId, id, as }),
    undo: (importId = "") => undoImport(needs(), importId),
  };
};

/** Returns the payments without their rows, the largest amounts first. */
export const listAmounts = (paid: readonly Paid[]): [number, string][] =>
  paid
    .map(({ amount, currency }): [number, string] => [amount, currency])
    .toSorted(([a], [b]) => b - a);

/** The texts of a payment in one string. */
export const textOf = ({ rows }: Paid): string => JSON.stringify(rows);
