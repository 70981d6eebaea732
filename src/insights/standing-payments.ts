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

/** Names the rows that a return of this amount undoes, so that each is found without a search. */
const toUndoneKey = ({ documentNumber, currencyCode }: Reversible, amount: unknown): string =>
  JSON.stringify([documentNumber, currencyCode, amount]);

/** Returns the places of the rows that returns undo: the first one that fits, each once. */
const findUndone = (rows: readonly Reversible[], reversals: readonly Reversible[]): Set<number> => {
  const places = Map.groupBy(rows.keys(), (place) => {
    const row = rows[place] ?? {};
    return toUndoneKey(row, row.appliedAmount);
  });
  for (const own of places.values()) own.reverse();
  const undone = new Set<number>();
  for (const reversal of reversals) {
    const { appliedAmount: amount } = reversal;
    if (typeof amount !== "number") continue;
    const place = places.get(toUndoneKey(reversal, -amount))?.pop();
    if (place !== undefined) undone.add(place);
  }
  return undone;
};

/** Returns the rows of payments that stand: without returns, the rows that these undo, and suggestions. */
export const selectStanding = <Row extends Reversible>(rows: readonly Row[]): Row[] => {
  const standing = rows.filter((row) => !isReversal(row) && !isSuggested(row));
  const reversals = rows.filter(isReversal);
  if (reversals.length === 0) return standing;
  const undone = findUndone(standing, reversals);
  return standing.filter((_row, place) => !undone.has(place));
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
