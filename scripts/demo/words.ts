import type { Total } from "./analysis.ts";
import type { Dispute } from "./records.ts";

const number = (amount: number): string =>
  amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const money = ({ amount, currencyCode }: Pick<Total, "amount" | "currencyCode">): string =>
  `${number(amount)} ${currencyCode}`;

export const moneys = (totals: readonly Total[]): string =>
  totals.length === 0 ? "-" : totals.map(money).join(" + ");

export const count = (many: number, noun: string): string =>
  `${many} ${noun}${many === 1 ? "" : "s"}`;

const short = (text: string, longest: number): string =>
  [...text].length > longest ? `${[...text].slice(0, longest - 1).join("")}…` : text;

export const accountOf = ({ accountName, accountNumber }: Dispute): string =>
  short(accountName ?? accountNumber, 26);

export const dateOf = (timestamp: string): string => timestamp.slice(0, 10);

export const nobody = "nobody";
