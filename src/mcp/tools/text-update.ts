/** Checks before an update with text that it loses no part of the stored one. */
import { operations } from "../../contract/index.ts";
import { Problem } from "../../contract/errors.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import { isRecord } from "../../kit/json.ts";
import { TEXT_INCOMPLETE } from "../results/next-step.ts";
import { checkTexts } from "./asking/stored-text.ts";
import type { Working } from "./tool-context.ts";

/** Fields that hold no text of people: what they may hold has a form. */
const NO_TEXT = /(?:id|code|email|number|num|currency|date|status|type|visibility|source)$/i;

const holdsText = (args: CallArguments, { body }: Operation): boolean =>
  Object.entries(args).some(
    ([name, value]) =>
      name in (body?.shape ?? {}) &&
      !NO_TEXT.test(name) &&
      ((typeof value === "string" && value !== "") ||
        (typeof value === "object" && value !== null)),
  );

/** Finds the operation that reads the record of an update: the one with the same path. */
const findRead = ({ path, service }: Operation): Operation | undefined =>
  operations.find(
    (one) => one.effect === "read" && one.path === path && one.service === service && !one.file,
  );

/** Reads the record of an update with text, and checks that no text of it loses a part. */
export const checkTextUpdate = async (
  { tool: { operation, name }, broker, signal }: Working,
  args: CallArguments,
): Promise<void> => {
  if (!operation.updates || !holdsText(args, operation)) return;
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
    // The platform reports other faults of the record itself.
    if (error.details.errors?.some(({ code }) => code === TEXT_INCOMPLETE) === true) throw error;
  }
};
