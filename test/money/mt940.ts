import { type Booking, decimal, type Other } from "./truth.ts";
import type { Statement } from "./statement.ts";

const TYPES: Readonly<Record<Other, string>> = {
  interest: "NINT",
  transfer: "NCMZ",
  fee: "NCHG",
  outgoing: "NTRF",
};

const WIDTH = 65;

const shorten = (day: string): string => day.slice(2).replaceAll("-", "");

const wrap = (text: string): string[] =>
  Array.from({ length: Math.ceil(text.length / WIDTH) }, (_, place) =>
    text.slice(place * WIDTH, (place + 1) * WIDTH),
  );

/** Writes :86:, in the structure of slashes, or as plain text where messages have no references. */
const describe = ({ account, transactions, returned }: Booking): string[] => {
  const [first, ...others] = transactions;
  if (first === undefined || others.length > 0) return [];
  const { trace, customer, text } = first;
  if (account.style === "text") return wrap(text);
  return wrap(
    [
      trace === "" ? "" : `/EREF/${trace}`,
      returned === undefined || returned.reference === "" ? "" : `/RREF/${returned.reference}`,
      returned === undefined ? "" : "/RTRN/AC04",
      `/NAME/${customer.name}/REMI/${text}`,
    ].join(""),
  );
};

const writeLine = (booking: Booking, day: string): string[] => {
  const { amount, reference, transactions, other, returned, account } = booking;
  const mark = amount > 0 ? "C" : returned === undefined ? "D" : "RC";
  const size = decimal(Math.abs(amount), account.decimals, ",");
  const written = size.includes(",") ? size : `${size},`;
  const trace = transactions.length === 1 ? transactions[0]?.trace : "";
  const type = other === undefined ? "NTRF" : TYPES[other];
  const own = reference === "" ? "" : `//${reference}`;
  const line = `:61:${shorten(day)}${shorten(day).slice(2)}${mark}${written}${type}${trace || "NONREF"}${own}`;
  const [first, ...further] = describe(booking);
  return first === undefined ? [line] : [line, `:86:${first}`, ...further];
};

const describeBalance = ({ account, day }: Statement, amount: number): string => {
  const size = decimal(Math.abs(amount), account.decimals, ",");
  const written = size.includes(",") ? size : `${size},`;
  return `${amount < 0 ? "D" : "C"}${shorten(day)}${account.currency}${written}`;
};

const ENVELOPE = "{1:F01BANKDEFFAXXX0000000000}{2:I940COMPDEFFXXXXN}{4:";

/** Writes an MT940 message for each statement, with or without the envelope of SWIFT. */
export const writeMt940 = (statements: readonly Statement[], hasEnvelope: boolean): string =>
  statements
    .flatMap((statement) => [
      ...(hasEnvelope ? [ENVELOPE] : []),
      `:20:${statement.id}`,
      `:25:${statement.account.number}`,
      ":28C:42/1",
      `:60F:${describeBalance(statement, statement.opening)}`,
      ...statement.bookings.flatMap((booking) => writeLine(booking, statement.day)),
      `:62F:${describeBalance(statement, statement.closing)}`,
      hasEnvelope ? "-}" : "-",
    ])
    .join("\r\n")
    .concat("\r\n");
