import type { BankFormat } from "../../src/platform/import/formats.ts";
import { importPayments, importRecords } from "./importing.ts";
import { QUERY, SUMMARY } from "./payment-rows.ts";
import type { Caller, TestPlatform } from "./platform.ts";

type Row = Record<string, unknown>;

const DOCUMENT =
  "document_number,account_number,invoice_num,invoice_date,due_date,currency,original_denomination,denomination";

/** Tenants that import files of banks, and what they then have. */
export const createBankTenants = (at: () => TestPlatform) => {
  let tenants = 0;
  let tenantId = "";
  let call: Caller;
  return {
    /** Goes on with a tenant without payments, so that a test counts its own alone. */
    fresh: async (): Promise<void> => {
      tenants += 1;
      tenantId = `bank-${tenants}`;
      await at().tenant(tenantId);
      call = await at().exportCaller(tenantId);
    },
    bring: (format: BankFormat, text: string | Buffer) =>
      importPayments(at(), { tenantId, source: "cashapp" }, text, { format }),
    /** Imports open documents of the account A-1. */
    documents: async (
      documents: readonly {
        number: string;
        balance: number;
        invoice?: string;
        currency?: string;
      }[],
    ): Promise<void> => {
      await importRecords(
        at(),
        tenantId,
        "accounts",
        "account_number,name,currency\nA-1,Acme,USD\n",
      );
      const lines = documents.map(
        ({ number, balance, invoice = number, currency = "USD" }) =>
          `${number},A-1,${invoice},2026-01-01,2026-02-01,${currency},${balance},${balance}`,
      );
      const text = [DOCUMENT, ...lines].join("\n");
      const { rejects } = await importRecords(at(), tenantId, "documents", text);
      if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    },
    rows: async (...fields: string[]): Promise<Row[]> => {
      const body = { source: "cashapp", fields, limit: 2000 };
      return (await call("POST", QUERY, { body })).body.data;
    },
    /** The sums of a summary, in which amounts of a payment count once. */
    total: async (): Promise<Row> => {
      const fields = ["paymentAmount", "unappliedAmount", "appliedAmount"];
      const measures = fields.map((field) => ({ op: "sum", field }));
      const body = { source: "cashapp", measures };
      const [item] = (await call("POST", SUMMARY, { body })).body.items;
      return { payments: item.payments, ...item.sum };
    },
  };
};
