import { iso } from "../../../kit/clock.ts";
import type { Making } from "../configuration.ts";
import type { Account } from "../ledger/accounts.ts";
import { evening } from "../ledger/document-rows.ts";
import type { Invoice } from "../ledger/invoices.ts";
import { dateOnly, workday } from "../moments.ts";
import type { Receipt } from "./receipts.ts";
import {
  amount,
  last4,
  linesOf,
  loaded,
  oldestFirst,
  type Payment,
  sumOf,
  together,
} from "./row.ts";

type Delivery = "received" | "processing" | "delivered" | "returned";

const SUPPLIER = { supplierId: "SUP-204417", supplierName: "Demo Manufacturing Inc." };
const CARD_FEE = 0.0275;
const TRANSFER_FEE = 125;

const METHODS: readonly (readonly ["vcard" | "ach" | "wire" | "check", number])[] = [
  ["vcard", 48],
  ["ach", 40],
  ["wire", 7],
  ["check", 5],
];

const payerOf = ({ parent, number, name }: Account) => ({
  payerId: `BP-${(parent?.number ?? number).replace("C-", "")}`,
  payerName: parent?.name ?? name,
});

const header = (
  making: Making,
  { account, ageDays, status }: { account: Account; ageDays: number; status: Delivery },
  cents: number,
) => {
  const { dice, now } = making;
  const method = dice.weigh(METHODS);
  const feeCents =
    method === "vcard" ? Math.round(cents * CARD_FEE) : Math.min(TRANSFER_FEE, cents);
  const hasArrived = status === "delivered";
  const isProcessed = status !== "received" && status !== "processing";
  const digits = last4(dice);
  return {
    networkPaymentId: `NP-${dice.whole(10_000_000, 99_999_999)}`,
    ...payerOf(account),
    ...SUPPLIER,
    accountNumber: account.number,
    paymentDate: dateOnly(workday(now, ageDays)),
    settlementDate: hasArrived ? dateOnly(workday(now, Math.max(0, ageDays - 1))) : null,
    paymentMethod: method,
    paymentAmount: amount(cents),
    currencyCode: account.currency,
    feeAmount: amount(feeCents),
    netAmount: amount(cents - feeCents),
    traceNumber: String(dice.whole(1_000_000_000, 1_999_999_999)),
    remittanceId: `RM-${dice.whole(1_000_000, 9_999_999)}`,
    deliveryStatus: status,
    cardLast4: method === "vcard" ? digits : null,
    processedAt: isProcessed ? iso(evening(now, ageDays)) : null,
  };
};

/** A payment with its remittance, line by line. */
const paymentRows = (
  making: Making,
  receipts: readonly Receipt[],
  status: Delivery = "delivered",
): Payment[] => {
  const [first] = receipts;
  if (first === undefined) return [];
  const { invoice, ageDays } = first;
  const head = header(making, { account: invoice.account, ageDays, status }, sumOf(receipts));
  const createdAt = evening(making.now, ageDays);
  const updatedAt = evening(making.now, Math.max(0, ageDays - 1));
  return receipts.flatMap(linesOf).map(({ receipt, cents, heldBack }, place) => {
    const values = {
      ...head,
      remittanceLine: place + 1,
      invoiceNumber: receipt.invoice.number,
      invoiceAmount: amount(receipt.invoice.cents),
      amountPaid: amount(cents),
      adjustmentAmount: amount(heldBack?.cents ?? 0),
      adjustmentReasonCode: heldBack?.reasonCode ?? null,
    };
    return loaded(making, values, { createdAt, updatedAt });
  });
};

const RETURNED = 6;
const CAME_BACK = 4;

/** Whole payments that came back before they came again. */
const returns = (making: Making, payments: readonly Receipt[][]): Payment[] => {
  const { dice } = making;
  const fitting = payments.filter((receipts) =>
    receipts.every(({ invoice, ageDays }) => invoice.ageDays > ageDays + CAME_BACK),
  );
  return dice
    .shuffle(fitting)
    .slice(0, RETURNED)
    .flatMap((receipts) =>
      paymentRows(
        making,
        receipts.map((one) => ({ ...one, ageDays: one.ageDays + CAME_BACK })),
        "returned",
      ),
    );
};

const UNDER_WAY = 12;

/** What the network has and the supplier does not have yet. */
const underWay = (making: Making, untouched: readonly Invoice[]): Payment[] => {
  const { dice } = making;
  return dice
    .shuffle(untouched.filter(({ ageDays }) => ageDays > 5))
    .slice(0, UNDER_WAY)
    .flatMap((invoice, place) => {
      const paid = { invoice, cents: invoice.cents, leftCents: 0, heldBack: [], ends: null };
      const isNew = place % 2 === 0;
      const ageDays = isNew ? 1 : dice.whole(2, 3);
      return paymentRows(making, [{ ...paid, ageDays }], isNew ? "received" : "processing");
    });
};

/** Payments through the network. */
export const bpn = (
  making: Making,
  receipts: readonly Receipt[],
  untouched: readonly Invoice[],
): Payment[] => {
  const payments = together(receipts);
  return oldestFirst([
    ...payments.flatMap((some) => paymentRows(making, some)),
    ...returns(making, payments),
    ...underWay(making, untouched),
  ]);
};
