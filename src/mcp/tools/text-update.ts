/** Keeps an update from losing the part of a text that its reader was not shown: characters that were removed, or the rest of a cut text. */
import { contract } from "../../contract/index.ts";
import { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { isRecord } from "../../kit/json.ts";
import { TEXT_INCOMPLETE } from "../results/next-step.ts";
import { countRemoved, sanitizeText } from "../results/sanitize.ts";
import { isUpdate } from "./kinds.ts";
import type { Working } from "./tool-context.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Fields that hold no text of people: what they may hold has a form. */
const NO_TEXT = /(?:id|code|email|number|num|currency|date|status|type|visibility|source)$/i;

const CUT = /… \[\d+ more characters\]/;
/** How markup is written in text parts and sentences, and the character that it stands for. */
const ESCAPES = [
  ["&lt;", "<"],
  ["\\u003c", "<"],
  ["]\\(", "]("],
  ["!\\[", "!["],
] as const;

const holdsText = (args: Fields, { body }: Operation): boolean =>
  Object.entries(args).some(
    ([name, value]) =>
      name in (body?.shape ?? {}) &&
      !NO_TEXT.test(name) &&
      ((typeof value === "string" && value !== "") ||
        (typeof value === "object" && value !== null)),
  );

const operations: readonly Operation[] = Object.values(contract).flatMap((noun) =>
  Object.values(noun as Record<string, Operation>),
);

/** Finds the operation that reads the record of an update: the one with the same path. */
const findRead = ({ path, service }: Operation): Operation | undefined =>
  operations.find(
    (one) => one.method === "GET" && one.path === path && one.service === service && !one.file,
  );

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

/** Whether a text has words of another one: if not, it replaces it as a whole. */
const isDerived = (text: string, shown: string): boolean => {
  const words = new Set(wordsOf(shown));
  return words.size === 0
    ? text.includes(shown.trim()) && shown.trim() !== ""
    : wordsOf(text).some((word) => words.has(word));
};

/** Describes the part of a text that an update would lose; undefined if there is none. */
const findLoss = (stored: string, text: string): string | undefined => {
  if (text === stored) return undefined;
  const removed = [...countRemoved(stored).keys()];
  if (removed.length > 0 && isDerived(text, sanitizeText(stored, "stored"))) {
    return `The stored text has characters that are not shown (${removed.slice(0, 5).join(", ")}), and this update would remove them.`;
  }
  if (CUT.test(text) && !CUT.test(stored)) {
    return "This text was read in part, and this update would remove the rest.";
  }
  const escape = ESCAPES.find(
    ([written, meant]) =>
      text.includes(written) && !stored.includes(written) && stored.includes(meant),
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
export const checkTexts = (args: Fields, stored: Fields): void => {
  const found = findFirst(args, stored, "");
  if (found === undefined) return;
  const { field, message } = found;
  throw new Problem("conflict", `${field}: ${message} Nothing was changed.`, {
    errors: [{ field, code: TEXT_INCOMPLETE, message }],
  });
};

/** Reads the record of an update with text, and checks that no text of it loses a part. */
export const checkTextUpdate = async (
  { tool: { operation, name }, broker, signal }: Working,
  args: Fields,
): Promise<void> => {
  if (!isUpdate(operation) || !holdsText(args, operation)) return;
  const read = findRead(operation);
  if (read === undefined) return;
  const known = Object.fromEntries(
    Object.keys(read.params.shape).flatMap((key) => (key in args ? [[key, args[key]]] : [])),
  );
  try {
    const { output } = await broker.call(read, known, { tool: name, signal });
    if (isRecord(output)) checkTexts(args, output);
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted) throw error;
    // The platform says itself what is wrong with the record; a text that would be lost is a conflict of ours.
    if (error.details.errors?.some(({ code }) => code === TEXT_INCOMPLETE) === true) throw error;
  }
};
