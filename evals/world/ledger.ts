import { daysBefore } from "../../scripts/demo/calendar.ts";
import { ANALYST } from "./configuration.ts";
import type { Account, Currency, Dispute, Document, Note, Payment, Records } from "./records.ts";

/** The days of payment terms. */
const TERMS = 30;

/** The fields of records that do not follow from other records. */
type GivenDocument = { age: number; original: number; balance?: number; po?: string } & Partial<
  Pick<Document, "currency" | "type">
>;
type GivenDispute = { age: number; amount: number; reason: string; closedAge?: number } & Partial<
  Pick<Dispute, "status" | "resolution" | "assignee">
>;
type GivenPayment = Pick<Payment, "source" | "payment" | "method"> & { age: number } & Partial<
    Pick<Payment, "reference" | "total" | "unapplied" | "deducted" | "applied" | "status" | "day">
  >;

/**
 * Takes in the records of the generated tenant one by one and completes them: numbers, names, currencies and dates
 * follow from what is there. Ages are days before the day of the world.
 */
export const createLedger = (day: string) => {
  const now = new Date(`${day}T00:00:00Z`);
  const records: Records = { accounts: [], documents: [], disputes: [], notes: [], payments: [] };
  const disputesOf = new Map<string, number>();
  const accounts = new Map<string, Account>();
  const before = (age: number): string => daysBefore(now, age);

  /** A time of an office day; later records of a day have later times. */
  const timeOf = (age: number, place: number): string => {
    const minutes = String(place % 60).padStart(2, "0");
    return `${before(age)}T${String(8 + (Math.floor(place / 60) % 10)).padStart(2, "0")}:${minutes}:00.000Z`;
  };

  return {
    records,
    before,
    account(number: string, name: string, currency: Currency, parent?: Account): Account {
      const made: Account = { number, name, currency, isParent: false };
      if (parent !== undefined) {
        parent.isParent = true;
        made.parent = parent.number;
      }
      records.accounts.push(made);
      accounts.set(number, made);
      return made;
    },
    document(number: string, account: Account, given: GivenDocument): Document {
      const { age, original, balance = original, po = `PO-${number}`, currency, type } = given;
      const made: Document = {
        number,
        account: account.number,
        type: type ?? "invoice",
        currency: currency ?? account.currency,
        invoiced: before(age),
        due: before(age - TERMS),
        po,
        original,
        balance,
      };
      records.documents.push(made);
      return made;
    },
    dispute(document: Document, given: GivenDispute): Dispute {
      const { age, amount, reason, closedAge, status = "Open", resolution, assignee } = given;
      const count = (disputesOf.get(document.number) ?? 0) + 1;
      disputesOf.set(document.number, count);
      const place = records.disputes.length;
      const made: Dispute = {
        code: `D-${document.number}-${String(count).padStart(2, "0")}`,
        document: document.number,
        account: document.account,
        accountName: accounts.get(document.account)?.name ?? "",
        amount,
        currency: document.currency,
        reason,
        status,
        created: timeOf(age, place),
        ...(closedAge === undefined ? {} : { closed: timeOf(closedAge, place + 60) }),
        ...(resolution === undefined ? {} : { resolution }),
        ...(assignee === undefined ? {} : { assignee }),
        po: document.po,
      };
      records.disputes.push(made);
      return made;
    },
    note(dispute: Dispute, age: number, content: string, visibility?: Note["visibility"]): Note {
      const place = records.notes.length;
      const made: Note = {
        id: `note-${String(place + 1).padStart(5, "0")}`,
        dispute: dispute.code,
        content,
        visibility: visibility ?? "Internal",
        author: ANALYST.email,
        at: timeOf(age, place),
      };
      records.notes.push(made);
      return made;
    },
    /** Adds a row of a payment by an account for a document, or for none. */
    pay(payer: Account, document: Document | undefined, given: GivenPayment): Payment {
      const { age, day: paid = before(age), ...rest } = given;
      const made: Payment = {
        ...rest,
        id: `${given.payment}-${records.payments.length + 1}`,
        day: paid,
        account: document?.account ?? payer.number,
        payer: payer.name,
        currency: document?.currency ?? payer.currency,
        ...(document === undefined ? {} : { document: document.number }),
      };
      records.payments.push(made);
      return made;
    },
  };
};

export type Ledger = ReturnType<typeof createLedger>;
