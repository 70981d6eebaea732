/** The fields of a row of cash application that tell whether it still stands. */
export type Reversible = {
  documentNumber?: unknown;
  currencyCode?: unknown;
  appliedAmount?: unknown;
  applicationStatus?: unknown;
  matchMethod?: unknown;
};

const isReversed = ({ applicationStatus }: Reversible): boolean => applicationStatus === "reversed";

const undoes = (reversal: Reversible, row: Reversible): boolean =>
  typeof reversal.appliedAmount === "number" &&
  row.appliedAmount === -reversal.appliedAmount &&
  row.documentNumber === reversal.documentNumber &&
  row.currencyCode === reversal.currencyCode;

/** Returns the rows of payments that stand: without returns, the rows that these undo, and suggestions. */
export const selectStanding = <Row extends Reversible>(rows: readonly Row[]): Row[] => {
  const standing = rows.filter((row) => !isReversed(row) && row.matchMethod !== "suggested");
  for (const reversal of rows.filter(isReversed)) {
    const place = standing.findIndex((row) => undoes(reversal, row));
    if (place !== -1) standing.splice(place, 1);
  }
  return standing;
};
