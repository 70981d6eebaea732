import type { Dispute } from "../contract/operations/disputes.ts";

/** The compared fields of two open disputes with the same document and amount. */
export type Compared = Pick<Dispute, "disputeCode" | "reasonName" | "poNumber"> & {
  /** The names of its files; undefined where they were not read. */
  files?: readonly string[] | undefined;
};

/** Two disputes that may be one, with what is equal and what differs; what neither has is left out. */
export type PossibleDuplicate = { disputeCode: string; same: string[]; different: string[] };

/** Compares two open disputes on one document with the same amount. */
export const compareDuplicates = (dispute: Compared, other: Compared): PossibleDuplicate => {
  const [files = [], others = []] = [dispute.files, other.files];
  const facts: [name: string, isKnown: boolean, isSame: boolean][] = [
    ["document", true, true],
    ["amount", true, true],
    ["reason", true, dispute.reasonName === other.reasonName],
    [
      "PO",
      (dispute.poNumber ?? other.poNumber ?? null) !== null,
      dispute.poNumber === other.poNumber,
    ],
    ["file", files.length > 0 || others.length > 0, files.some((one) => others.includes(one))],
  ];
  const select = (isEqual: boolean): string[] =>
    facts.filter(([, isKnown, isSame]) => isKnown && isSame === isEqual).map(([name]) => name);
  return { disputeCode: other.disputeCode, same: select(true), different: select(false) };
};

/** Says what is equal and what is not, such as "possible duplicate of D-1-02: same document, amount; other reason". */
export const describeDuplicate = ({ disputeCode, same, different }: PossibleDuplicate): string => {
  const others = different.length === 0 ? "" : `; other ${different.join(", ")}`;
  return `possible duplicate of ${disputeCode}: same ${same.join(", ")}${others}`;
};
