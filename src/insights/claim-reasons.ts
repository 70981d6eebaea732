import { contract } from "../contract/index.ts";
import { findAgreement } from "../contract/insights/agreement.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { Reason } from "../contract/operations/reasons.ts";
import { fold } from "./dispute-names.ts";
import type { InsightContext } from "./insight.ts";
import { readPart } from "./read-part.ts";

/** The reason of the tenant that a customer's words mean. */
export type ReasonFit = {
  reasonCode: string;
  /** What fits: the code, the description, or the reason of earlier claims with the same words. */
  by: "code" | "description" | "earlier claims";
  cases?: number;
  of?: number;
};

const SHORTEST_WORD = 3;
/** Words with so many equal first letters are forms of one word: damaged, damage. */
const STEM = 5;

const listWords = (text: string): string[] => [
  ...new Set(
    fold(text)
      .split(/[^\p{L}\p{N}]+/u)
      .filter(({ length }) => length >= SHORTEST_WORD),
  ),
];

const isSameWord = (a: string, b: string): boolean =>
  a === b || (a.length >= STEM && b.length >= STEM && a.slice(0, STEM) === b.slice(0, STEM));

/** Returns how many words of a description the customer used. */
const countShared = (words: readonly string[], description: string): number =>
  listWords(description).filter((own) => words.some((word) => isSameWord(word, own))).length;

const findByDescription = (words: readonly string[], reasons: readonly Reason[]) => {
  const scored = reasons
    .map((reason) => ({ reason, shared: countShared(words, reason.description) }))
    .filter(({ shared }) => shared > 0)
    .toSorted((a, b) => b.shared - a.shared);
  const [first, second] = scored;
  // Two that fit equally well are no answer.
  return first === undefined || first.shared === second?.shared ? undefined : first.reason;
};

const findByEarlier = (
  text: string,
  reasons: readonly Reason[],
  earlier: readonly Dispute[],
): ReasonFit | undefined => {
  const codes = new Map(reasons.map(({ reasonId, code }) => [reasonId, code]));
  const words = fold(text);
  const counts = new Map<string | undefined, number>();
  for (const { externalReasonName, reasonId } of earlier) {
    if (fold(externalReasonName ?? "") !== words) continue;
    const code = codes.get(reasonId);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const agreed = findAgreement(counts);
  return (
    agreed && { reasonCode: agreed.value, by: "earlier claims", cases: agreed.cases, of: agreed.of }
  );
};

/** Reads the tenant's reasons, and says why they could not be read. */
export const readReasons = async (
  context: InsightContext,
): Promise<{ reasons: readonly Reason[]; notes: string[] }> => {
  const part = await readPart(context, contract.reasons.list, {});
  return part.refused === undefined
    ? { reasons: part.value, notes: [] }
    : { reasons: [], notes: [`No reason is proposed: ${part.refused.reason}`] };
};

/** Finds the reason that a customer's words mean: its code, earlier claims with these words, or its description. */
export const fitReason = (
  text: string,
  reasons: readonly Reason[],
  earlier: readonly Dispute[],
): ReasonFit | undefined => {
  const own = fold(text.trim());
  const named = reasons.find(({ code }) => fold(code) === own);
  if (named !== undefined) return { reasonCode: named.code, by: "code" };
  const before = findByEarlier(text.trim(), reasons, earlier);
  if (before !== undefined) return before;
  const described = findByDescription(listWords(text), reasons);
  return described === undefined ? undefined : { reasonCode: described.code, by: "description" };
};
