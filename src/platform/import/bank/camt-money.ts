import { Big, parseDecimal } from "./decimal.ts";
import { createMalformed } from "./file.ts";
import { type Element, findAll, findElement } from "./xml.ts";

export type Money = { value: Big; currency: string };

/**
 * Parses the amount of an element. ISO 20022, ActiveCurrencyAndAmount: an amount is never negative, its direction
 * is in CdtDbtInd.
 */
export const parseMoney = ({ text, attributes, line, name }: Element): Money => {
  const value = parseDecimal(text);
  if (value === undefined) throw createMalformed(`line ${line}`, `has no amount in ${name}`);
  if (value.s < 0 && value.lt(0))
    throw createMalformed(`line ${line}`, `has the negative amount ${text.trim()}`);
  return { value, currency: attributes["Ccy"]?.trim() ?? "" };
};

/** Returns the amount at the first path that exists. */
export const readMoney = (element: Element, ...paths: readonly string[]): Money | undefined => {
  for (const path of paths) {
    const found = findElement(element, path);
    if (found !== undefined) return parseMoney(found);
  }
  return undefined;
};

const isDebit = (element: Element): boolean =>
  findAll(element, "CdtDbtInd")[0]?.text.trim() !== "CRDT";

const toCharge = (element: Element, currency: string): Big => {
  const money = readMoney(element, "Amt");
  if (money?.currency !== currency) return new Big(0);
  return isDebit(element) ? money.value : money.value.neg();
};

/** Adds up the charges of an entry or a transaction in its currency: versions 2 and 3 `Chrgs`, later ones `Chrgs/Rcrd`. */
export const readCharges = (element: Element, currency: string): Big => {
  let sum = new Big(0);
  for (const charges of findAll(element, "Chrgs")) {
    const records = findAll(charges, "Rcrd");
    const parts = records.length > 0 ? records : [charges];
    for (const part of parts) sum = sum.plus(toCharge(part, currency));
    if (records.length > 0 || findAll(charges, "Amt").length > 0) continue;
    const total = readMoney(charges, "TtlChrgsAndTaxAmt");
    if (total?.currency === currency) sum = sum.plus(total.value);
  }
  return sum;
};
