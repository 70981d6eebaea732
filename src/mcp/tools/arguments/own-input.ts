import type { z } from "zod";
import { toFaults } from "../../../contract/faults.ts";
import type { CallArguments } from "../../../contract/operation.ts";
import { sanitizeLine } from "../../results/sanitize.ts";
import { refuseArguments } from "./arguments.ts";
import { describeInstead } from "./unknown-names.ts";

/**
 * Reads the arguments of a tool of the server's own, which no operation of the platform has.
 *
 * @throws {Problem} `invalid_request`, which names every fault
 */
export const readOwnInput = <S extends z.ZodObject>(
  name: string,
  schema: S,
  args: CallArguments,
): z.infer<S> => {
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(args)
    .filter((key) => !known.includes(key))
    .slice(0, 20)
    .map((key) => ({
      field: sanitizeLine(key, 60),
      code: "unknown",
      message: `is not an argument${describeInstead(key, known)}`,
    }));
  const parsed = schema.safeParse(args, { reportInput: true });
  const faults = [...unknown, ...(parsed.success ? [] : toFaults(parsed.error))];
  if (!parsed.success || faults.length > 0) throw refuseArguments({ name }, faults);
  return parsed.data;
};
