/** The fields of a row of cash application that tell whether it still stands. */
export type Reversible = {
  documentNumber?: unknown;
  currencyCode?: unknown;
  appliedAmount?: unknown;
  applicationStatus?: unknown;
  matchMethod?: unknown;
};

/** Whether a row undoes another one, because its payment came back. */
export const isReversal = ({ applicationStatus }: Reversible): boolean =>
  applicationStatus === "reversed";

const isSuggested = ({ matchMethod }: Reversible): boolean => matchMethod === "suggested";

const undoes = (reversal: Reversible, row: Reversible): boolean =>
  typeof reversal.appliedAmount === "number" &&
  row.appliedAmount === -reversal.appliedAmount &&
  row.documentNumber === reversal.documentNumber &&
  row.currencyCode === reversal.currencyCode;

/** Returns the rows of payments that stand: without returns, the rows that these undo, and suggestions. */
export const selectStanding = <Row extends Reversible>(rows: readonly Row[]): Row[] => {
  const standing = rows.filter((row) => !isReversal(row) && !isSuggested(row));
  for (const reversal of rows.filter(isReversal)) {
    const place = standing.findIndex((row) => undoes(reversal, row));
    if (place !== -1) standing.splice(place, 1);
  }
  return standing;
};

/** Counts the rows that results leave out, and says why. */
export type LeftOutRows = {
  /** Counts the rows of one document or payment; `currencies`: those of the disputes that they are compared with. */
  count: (rows: readonly Reversible[], currencies?: ReadonlySet<string>) => void;
  notes: () => string[];
};

const describeCount = (count: number, reason: string): string[] =>
  count === 0 ? [] : [`${count} ${reason}`];

export const createLeftOutRows = (): LeftOutRows => {
  let [suggested, reversed, otherCurrency] = [0, 0, 0];
  return {
    count(rows, currencies) {
      const standing = selectStanding(rows);
      const proposals = rows.filter((row) => isSuggested(row) && !isReversal(row)).length;
      suggested += proposals;
      reversed += rows.length - standing.length - proposals;
      if (currencies === undefined) return;
      otherCurrency += standing.filter(
        ({ currencyCode }) => typeof currencyCode === "string" && !currencies.has(currencyCode),
      ).length;
    },
    notes() {
      const parts = [
        ...describeCount(suggested, "suggested, which no person or rule has confirmed"),
        ...describeCount(reversed, "reversed, with the rows that they undo"),
        ...describeCount(otherCurrency, "in another currency than the disputes of their document"),
      ];
      return parts.length === 0 ? [] : [`Payment rows left out: ${parts.join("; ")}.`];
    },
  };
};
