import { DAY } from "../../../kit/clock.ts";
import type { Making } from "../configuration.ts";
import { contactMail } from "../ledger/accounts.ts";
import { evening } from "../ledger/document-rows.ts";
import type { Invoice } from "../ledger/invoices.ts";
import { dateOnly, workday } from "../moments.ts";
import type { Receipt } from "./receipts.ts";
import { amount, invoiceDay, last4, loaded, oldestFirst, type Payment } from "./row.ts";

type Status =
  | "scheduled"
  | "pending"
  | "settled"
  | "failed"
  | "refunded"
  | "voided"
  | "charged_back";

/** What somebody did in the portal: money meant for an invoice, whatever became of it. */
type Attempt = {
  invoice: Invoice;
  ageDays: number;
  cents: number;
  leftCents: number;
  status: Status;
  /** Until it was known what became of it. */
  daysUntil: number;
  /** A card's alone. */
  isCard?: boolean;
  /** Days ahead when it is to be paid. */
  dueIn?: number;
};

const FAILURES = { card: ["card_declined", "expired_card"], ach: ["R01", "R03", "R10"] } as const;
const BRANDS = ["visa", "mastercard", "amex"] as const;
const SURCHARGE = 0.025;
const BY_CARD = 0.45;

const means = ({ dice }: Making, { cents, status, isCard }: Attempt) => {
  const [byCard, brand, failed] = [dice.chance(BY_CARD), dice.pick(BRANDS), dice.share()];
  const method = isCard === true || byCard ? "card" : "ach";
  const codes = FAILURES[method];
  return {
    paymentMethod: method,
    surchargeAmount: method === "card" ? amount(Math.round(cents * SURCHARGE)) : 0,
    cardBrand: method === "card" ? brand : null,
    accountLast4: last4(dice),
    failureCode: status === "failed" ? (codes[Math.floor(failed * codes.length)] ?? null) : null,
  };
};

const ARRIVED: ReadonlySet<Status> = new Set(["settled", "refunded", "charged_back"]);

const dates = (now: number, { invoice, ageDays, status, daysUntil, dueIn = 0 }: Attempt) => {
  const issued = invoiceDay(now, invoice);
  const day = workday(now, ageDays);
  const isScheduled = status === "scheduled";
  return {
    invoiceDate: dateOnly(issued),
    dueDate: dateOnly(issued + invoice.account.terms.days * DAY),
    paymentDate: isScheduled ? null : dateOnly(day),
    scheduledDate: isScheduled ? dateOnly(now + dueIn * DAY) : null,
    settlementDate: ARRIVED.has(status) ? dateOnly(workday(now, ageDays - daysUntil)) : null,
    daysToPay: isScheduled ? null : Math.round((day - issued) / DAY),
  };
};

const rowOf = (making: Making, attempt: Attempt): Payment => {
  const { dice, now } = making;
  const { invoice, cents, leftCents, status, ageDays, daysUntil } = attempt;
  const { account } = invoice;
  const autopay = dice.chance(0.2) && status !== "voided";
  const source = dice.weigh([
    ["portal", 84],
    ["ivr", 6],
    ["csr", 6],
    ["api", 4],
  ]);
  const values = {
    paymentId: `PAY-${dice.whole(10_000_000, 99_999_999)}`,
    confirmationNumber: dice.id().slice(0, 8).toUpperCase(),
    invoiceNumber: invoice.number,
    documentNumber: invoice.number,
    accountNumber: account.number,
    accountName: account.name,
    ...dates(now, attempt),
    invoiceAmount: amount(invoice.cents),
    amountPaid: amount(cents),
    openBalance: amount(leftCents),
    ...means(making, attempt),
    discountAmount: 0,
    currencyCode: account.currency,
    paymentStatus: status,
    payerEmail: contactMail(account, dice.pick(account.contacts)),
    paymentSource: autopay ? "autopay" : source,
    autopay,
    poNumber: invoice.poNumber,
  };
  const createdAt = evening(now, ageDays);
  return loaded(making, values, { createdAt, updatedAt: evening(now, ageDays - daysUntil) });
};

const CLEARS = 2;

const settled = ({ invoice, ageDays, cents, leftCents }: Receipt): Attempt => ({
  invoice,
  ageDays,
  cents,
  leftCents,
  status: "settled",
  daysUntil: Math.min(CLEARS, ageDays),
});

/** What went wrong before the payment that did not; `age` is how many days earlier. */
const before = (status: Status, earlier: number, daysUntil: number, isCard = false) => {
  return ({ invoice, ageDays, cents, leftCents }: Receipt): Attempt => ({
    invoice,
    ageDays: ageDays + earlier,
    cents,
    leftCents: leftCents + cents,
    status,
    daysUntil,
    isCard,
  });
};

const EARLIEST = 12;

/** Some of the payments had a worse one before them, or were made twice. */
const mishaps = ({ dice }: Making, receipts: readonly Receipt[]): Attempt[] => {
  const late = receipts.filter(
    ({ invoice, ageDays, ends }) => ends === null && invoice.ageDays > ageDays + EARLIEST,
  );
  const drawn = dice.shuffle(late);
  return [
    ...drawn.slice(0, 14).map(before("failed", 2, 1)),
    ...drawn.slice(14, 18).map(before("voided", 1, 0)),
    ...drawn.slice(18, 23).map(before("charged_back", EARLIEST, 9, true)),
    ...drawn.slice(23, 28).map((one) => ({
      ...settled(one),
      status: "refunded" as const,
      daysUntil: Math.min(one.ageDays, 4),
    })),
  ];
};

/** What is to come for invoices that are not paid, and what came back from them. */
const unsettled = ({ dice }: Making, untouched: readonly Invoice[]): Attempt[] => {
  const drawn = dice.shuffle(untouched.filter(({ ageDays }) => ageDays > 5));
  const all = (
    invoices: readonly Invoice[],
    make: (invoice: Invoice) => Pick<Attempt, "status" | "ageDays" | "daysUntil" | "dueIn">,
  ) =>
    invoices.map((invoice) => ({
      invoice,
      cents: invoice.cents,
      leftCents: invoice.cents,
      ...make(invoice),
    }));
  return [
    ...all(drawn.slice(0, 16), () => ({
      status: "scheduled",
      ageDays: dice.whole(1, 4),
      daysUntil: 0,
      dueIn: dice.whole(1, 14),
    })),
    ...all(drawn.slice(16, 22), () => ({ status: "pending", ageDays: 1, daysUntil: 0 })),
    ...all(drawn.slice(22, 30), () => ({
      status: "failed",
      ageDays: dice.whole(1, 5),
      daysUntil: 1,
    })),
  ];
};

/** Payments through the portal, one row for each invoice that each is for. */
export const iandp = (
  making: Making,
  receipts: readonly Receipt[],
  untouched: readonly Invoice[],
): Payment[] =>
  oldestFirst(
    [...receipts.map(settled), ...mishaps(making, receipts), ...unsettled(making, untouched)].map(
      (attempt) => rowOf(making, attempt),
    ),
  );
