import type { Claim } from "../../../../tools/dispute-operations.ts";

/** References of a claim that a dispute has no field for: its note names them, one a line. */
const LABELS = { debitMemo: "Debit memo", paymentId: "Payment" } as const;

export type ReferenceName = keyof typeof LABELS;
export const REFERENCES = Object.keys(LABELS) as ReferenceName[];

const toLine = (name: ReferenceName, value: string): string => `${LABELS[name]}: ${value.trim()}`;

/** Returns the content of the note of a claim's dispute; undefined if there is nothing to note. */
export const toNote = (claim: Claim): string | undefined => {
  const lines = REFERENCES.flatMap((name) => {
    const value = claim[name];
    return value === undefined ? [] : [toLine(name, value)];
  });
  const parts = [...(claim.note === undefined ? [] : [claim.note]), ...lines];
  return parts.length === 0 ? undefined : parts.join("\n");
};

/** Whether one of the notes of a dispute names a reference. */
export const hasReference = (
  notes: readonly string[],
  name: ReferenceName,
  value: string,
): boolean => {
  const line = toLine(name, value).toLowerCase();
  return notes.some((content) =>
    content.split("\n").some((one) => one.trim().toLowerCase() === line),
  );
};
