import { formatTimestamp, SECOND } from "../../src/kit/clock.ts";
import { matchDocuments } from "../../src/platform/import/payments/match.ts";
import { settlePayments } from "../../src/platform/services/payments/matching/settle.ts";
import {
  addPayments,
  type NewPayment,
  takeSeqs,
} from "../../src/platform/store/queries/payments.ts";
import { readPaymentRows } from "../../src/platform/store/queries/payment-matching.ts";
import { importRecords } from "./importing.ts";
import type { TestPlatform } from "./platform.ts";

type Fields = Record<string, unknown>;

/** A payment as a reader gives it: shared fields, and the fields of each line. */
export type TestPayment = { id: string; amount: number; lines?: readonly Fields[] } & Fields;

export type TestDocument = {
  number: string;
  amount: number;
  account?: string;
  balance?: number;
  currency?: string;
  invoice?: string;
  type?: string;
  appliesTo?: string;
};

const DOCUMENT =
  "document_number,account_number,invoice_num,invoice_date,due_date,currency,original_denomination,denomination,document_type,applies_to_invoice";

const toLine = (document: TestDocument): string => {
  const { number, amount, account = "C1", balance = amount, currency = "EUR" } = document;
  const { invoice = number, type = "invoice", appliesTo = "" } = document;
  const days = "2026-01-01,2026-02-01";
  return `${number},${account},${invoice},${days},${currency},${amount},${balance},${type},${appliesTo}`;
};

/** Tenants with the customers C1 Acme, C2 Bolt and C3 Cube, whose payments are matched without a file. */
export const createMatchTenants = (at: () => TestPlatform) => {
  let tenants = 0;
  let tenantId = "";
  const build = ({ id, amount, lines = [{}], ...shared }: TestPayment): NewPayment[] => {
    const now = formatTimestamp(at().clock());
    const values = {
      paymentId: id,
      paymentAmount: amount,
      currencyCode: "EUR",
      paymentDate: "2026-03-01",
      tenantId,
      createdAt: now,
      updatedAt: now,
      ...shared,
    };
    return lines.map((line, place) => ({
      tenantId,
      seq: 0,
      sentHash: "sent",
      values: { ...values, id: `${id}/${place}`, ...line },
    }));
  };
  return {
    tenant: () => tenantId,
    fresh: async (): Promise<void> => {
      tenants += 1;
      tenantId = `match-${tenants}`;
      await at().tenant(tenantId);
      const accounts = ["C1,Acme,EUR", "C2,Bolt,EUR", "C3,Cube,EUR"].join("\n");
      await importRecords(
        at(),
        tenantId,
        "accounts",
        `account_number,name,currency\n${accounts}\n`,
      );
    },
    /** Imports documents, each of C1 unless it says another account. */
    documents: async (...documents: readonly TestDocument[]) => {
      at().clock.advance(SECOND);
      const text = [DOCUMENT, ...documents.map(toLine)].join("\n");
      const { rejects } = await importRecords(at(), tenantId, "documents", text);
      if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    },
    /** Matches and stores payments of one batch. */
    pay: async (...payments: readonly TestPayment[]): Promise<void> => {
      at().clock.advance(SECOND);
      const rows = payments.flatMap(build);
      await at().store.transaction(async (tx) => {
        const first = await takeSeqs(tx, tenantId, "cashapp", rows.length);
        const matched = await matchDocuments(tx, tenantId, rows);
        const numbered = matched.map((row, place) => ({ ...row, seq: first + place }));
        await addPayments(tx, "cashapp", numbered);
        await settlePayments(tx, { tenantId, now: formatTimestamp(at().clock()) }, numbered);
      }, tenantId);
    },
    /** The stored rows of payments, with the fields that are asked. */
    rows: async (
      paymentIds: readonly string[],
      ...fields: readonly string[]
    ): Promise<Fields[]> => {
      const found = await readPaymentRows(at().store.read, tenantId, paymentIds);
      return found.map(({ values }) =>
        Object.fromEntries(
          fields.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
        ),
      );
    },
  };
};
