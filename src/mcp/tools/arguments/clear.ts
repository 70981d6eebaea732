import type { z } from "zod";
import type { Fault } from "../../../contract/errors.ts";
import { findSpelling } from "../../../kit/spelling.ts";

type Values = Record<string, unknown>;

const MAX_SHOWN = 60;

/**
 * Returns values in which the fields that `clear` names are null, and a fault for each name of a field that cannot be
 * empty or that has a value too.
 */
export const clearFields = (
  values: Values,
  clear: readonly string[],
  shape: Readonly<Record<string, z.ZodType>>,
): { values: Values; wrong: Fault[] } => {
  const known = Object.keys(shape).filter((name) => shape[name]?.safeParse(null).success === true);
  const wrong: Fault[] = [];
  const cleared: Values = {};
  for (const [at, sent] of clear.entries()) {
    const name = findSpelling(sent, known);
    const field = `clear[${at}]`;
    const shown = JSON.stringify(name.slice(0, MAX_SHOWN));
    if (!known.includes(name)) {
      wrong.push({ field, code: "unknown", message: `${shown} is not a field that can be empty` });
    } else if (Object.hasOwn(values, name) && values[name] !== null) {
      wrong.push({ field, code: "conflict", message: `${shown} is sent with a value too` });
    } else cleared[name] = null;
  }
  return { values: { ...values, ...cleared }, wrong };
};
