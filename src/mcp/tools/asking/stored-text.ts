/** Finds the part of a stored text that an update would lose, because its reader was not shown it. */
import type { CallArguments } from "../../../contract/operation.ts";
import { Problem } from "../../../contract/errors.ts";
import { isRecord } from "../../../kit/json.ts";
import { TEXT_INCOMPLETE } from "../../results/next-step.ts";
import { countRemoved, sanitizeText } from "../../results/sanitize.ts";

type Fields = Readonly<Record<string, unknown>>;

const CUT = /… \[\d+ more characters\]/;
const ELLIPSIS = "…";
/** The characters before an ellipsis by which the place of a cut is found in the stored text, and the fewest that do. */
const [BEFORE_CUT, LEAST_BEFORE_CUT] = [24, 8] as const;
/** A text that was read has one cut; one that quotes others may have a few more. */
const MOST_CUTS = 8;
/** Markup as text parts and sentences write it, and the characters that it stands for. */
const ESCAPES = [
  ["&lt;", "<"],
  ["\\u003c", "<"],
  ["]\\(", "]("],
  ["!\\[", "!["],
] as const;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

/** Whether a text has words of another one: if not, it replaces it as a whole. */
const isDerived = (text: string, shown: string): boolean => {
  const words = new Set(wordsOf(shown));
  return words.size === 0
    ? text.includes(shown.trim()) && shown.trim() !== ""
    : wordsOf(text).some((word) => words.has(word));
};

/** Whether a text goes on with an ellipsis where the stored one goes on with more, as insights cut texts. */
const isCutAt = (text: string, at: number, stored: string): boolean => {
  const before = text.slice(Math.max(0, at - BEFORE_CUT), at);
  return (
    before.length >= LEAST_BEFORE_CUT &&
    stored.includes(before) &&
    !stored.includes(before + ELLIPSIS)
  );
};

/** Whether a text is one that was read in part. */
const isCut = (text: string, stored: string): boolean => {
  if (text.includes(stored.trim())) return false;
  if (CUT.test(text) && !CUT.test(stored)) return true;
  let at = text.indexOf(ELLIPSIS);
  for (let times = 0; at !== -1 && times < MOST_CUTS; times += 1) {
    if (isCutAt(text, at, stored)) return true;
    at = text.indexOf(ELLIPSIS, at + 1);
  }
  return false;
};

/** Describes the part of a text that an update would lose; undefined if there is none. */
const findLoss = (stored: string, text: string): string | undefined => {
  if (text === stored) return undefined;
  const removed = [...countRemoved(stored).keys()];
  if (removed.length > 0 && isDerived(text, sanitizeText(stored, "stored"))) {
    return `The stored text has characters that are not shown (${removed.slice(0, 5).join(", ")}), and this update would remove them.`;
  }
  if (isCut(text, stored)) {
    return "This text was read in part, and this update would remove the rest.";
  }
  const escape = ESCAPES.find(
    ([written, replaced]) =>
      text.includes(written) && !stored.includes(written) && stored.includes(replaced),
  );
  return escape && `The stored text has ${escape[1]} where this update has ${escape[0]}.`;
};

/** Finds the first text of an update that would lose something, with its path. */
const findFirst = (
  sent: unknown,
  stored: unknown,
  path: string,
): { field: string; message: string } | undefined => {
  if (typeof sent === "string" && typeof stored === "string") {
    const message = findLoss(stored, sent);
    return message === undefined ? undefined : { field: path, message };
  }
  if (typeof sent !== "object" || sent === null || !isRecord(stored)) return undefined;
  for (const [name, child] of Object.entries(sent)) {
    const found = findFirst(child, stored[name], path === "" ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** @throws {Problem} conflict, if the update would lose a part of a stored text */
export const checkTexts = (args: CallArguments, stored: Fields): void => {
  const found = findFirst(args, stored, "");
  if (found === undefined) return;
  const { field, message } = found;
  throw new Problem("conflict", `${field}: ${message} Nothing was changed.`, {
    errors: [{ field, code: TEXT_INCOMPLETE, message }],
  });
};
