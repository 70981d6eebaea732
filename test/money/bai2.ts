import { sum, type Booking, type Other } from "./truth.ts";
import type { Statement } from "./statement.ts";

const TYPES: Readonly<Record<Other, string>> = {
  interest: "354",
  transfer: "275",
  fee: "698",
  outgoing: "495",
};

const writeTransaction = ({
  amount,
  reference,
  transactions,
  other,
  returned,
  type: own,
}: Booking): string[] => {
  const [first] = transactions;
  const size = Math.abs(amount);
  if (other !== undefined) return [`16,${TYPES[other]},${size},Z,${reference},,${other}/`];
  const usual = transactions.length > 1 ? "166" : "142";
  const type = returned === undefined ? (own ?? usual) : "555";
  // A returned item has the reference of the deposit.
  const bank = returned?.reference ?? reference;
  if (first === undefined || transactions.length > 1) return [`16,${type},${size},Z,${bank},,/`];
  const { trace, text, customer } = first;
  return [`16,${type},${size},Z,${bank},${trace},${text}/`, `88,DBNM: ${customer.name}/`];
};

const shorten = (day: string): string => day.slice(2).replaceAll("-", "");

/** Writes a BAI2 file with a group for each statement. */
export const writeBai2 = (file: string, statements: readonly Statement[]): string => {
  const lines: string[] = [];
  const totals: number[] = [];
  for (const { account, day, opening, closing, bookings } of statements) {
    const records = bookings.flatMap(writeTransaction);
    const total = opening + closing + sum(bookings.map(({ amount }) => Math.abs(amount)));
    totals.push(total);
    lines.push(
      `02,CUSTOMER,021000021,1,${shorten(day)},2359,${account.currency},2/`,
      `03,${account.number},,010,${opening},,,015,${closing},,/`,
      ...records,
      `49,${total},${records.length + 2}/`,
      `98,${total},1,${records.length + 4}/`,
    );
  }
  const day = shorten(statements.at(-1)?.day ?? "");
  return [
    `01,021000021,CUSTOMER,${day},2359,${file},80,,2/`,
    ...lines,
    `99,${sum(totals)},${statements.length},${lines.length + 2}/`,
    "",
  ].join("\n");
};
