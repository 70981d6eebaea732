import { isa } from "../support/bank-files.ts";
import { type Booking, decimal, type Share } from "./truth.ts";

const writeShare = (booking: Booking, { document, paid, discount, deduction }: Share): string[] => {
  const write = (amount: number): string => decimal(amount, booking.account.decimals);
  if (document.credit !== undefined) return [`RMR*CM*${document.number}**${write(paid)}`];
  const due = write(paid + discount + deduction);
  const rmr = `RMR*IV*${document.number}**${write(paid)}*${due}*${discount === 0 ? "" : write(discount)}`;
  return deduction === 0 ? [rmr] : [rmr, `ADX*${write(-deduction)}*01`];
};

const writeSet = (booking: Booking, day: string, control: string): string[] => {
  const { account, amount } = booking;
  const [first] = booking.transactions;
  if (first === undefined) throw new Error("An 820 needs a transaction.");
  const { trace, customer, shares } = first;
  const bpr = `BPR*C*${decimal(amount, account.decimals)}*C*ACH*CTX*01*021000021*DA*${customer.account}*1512345678**01*021000021*DA*${account.number}*${day.replaceAll("-", "")}`;
  const segments = [
    `ST*820*${control}`,
    bpr,
    `TRN*1*${trace}*1512345678`,
    `CUR*PR*${account.currency}`,
    `N1*PR*${customer.name}`,
    "ENT*1",
    ...shares.flatMap((share) => writeShare(booking, share)),
  ];
  return [...segments, `SE*${segments.length + 1}*${control}`];
};

/** Writes an X12 820 with a set for each booking, which must have one transaction with a trace number. */
export const writeEdi820 = (
  bookings: readonly { booking: Booking; day: string }[],
  group: number,
): string => {
  const sets = bookings.map(({ booking, day }, place) =>
    writeSet(booking, day, String(place + 1).padStart(4, "0")),
  );
  return [
    `${isa()}GS*RA*PAYER*SELLER*20260301*0600*${group}*X*005010X218`,
    ...sets.flat(),
    `GE*${sets.length}*${group}`,
    "IEA*1*000000042~",
  ].join("~");
};
