import Big from "big.js";
import { findCurrencyDecimals } from "../../src/platform/money.ts";
import type { ImportReport } from "../../src/platform/import/import-file.ts";
import type { Reject } from "../../src/platform/import/run.ts";
import type { MoneyFile } from "./files.ts";

export const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: found ${found}, expected ${wanted}`);
};

const toUnits = (amount: number, currency: string): number =>
  new Big(amount).times(new Big(10).pow(findCurrencyDecimals(currency))).toNumber();

const checkTotals = (file: MoneyFile, report: ImportReport["files"][number] | undefined): void => {
  for (const [currency, sums] of file.sums) {
    const totals = report?.totals.find((one) => one.currencyCode === currency);
    if (totals === undefined) throw new Error(`The report has no totals in ${currency}.`);
    const { credits, debits, returned } = totals;
    const read = [credits, debits, returned].map((amount) => toUnits(amount, currency));
    expectEqual(`Totals in ${currency}`, read, [sums.credits, sums.debits, sums.returned]);
    const net = [totals.written, totals.unchanged, totals.leftOut].map((amount) =>
      toUnits(amount, currency),
    );
    expectEqual(
      `Written, unchanged and left out in ${currency}`,
      net.reduce((all, one) => all + one, 0),
      sums.credits - sums.debits,
    );
  }
};

/** Compares the report of a file with the file's own sums. */
export const checkReport = (
  file: MoneyFile,
  report: ImportReport,
  rejects: readonly Reject[],
  isRepeated: boolean,
): void => {
  const { read, written, unchanged, skipped, rejected, leftOut } = report;
  expectEqual(
    "Rejected",
    rejects.map(({ message, line }) => `${line} ${message}`),
    [],
  );
  expectEqual("Records", written + unchanged + skipped + rejected + leftOut, read);
  expectEqual("Left out", leftOut, file.leftOut);
  if (isRepeated) expectEqual("Written of a repeated file", written, 0);
  for (const [place, member] of (file.members ?? [file]).entries()) {
    checkTotals(member, report.files[place]);
  }
};
