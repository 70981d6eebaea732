import { Problem } from "../contract/errors.ts";
import { formatFaults } from "../contract/faults.ts";
import type { Parsed } from "../contract/insights/arguments.ts";

/**
 * Returns parsed arguments.
 *
 * @throws {Problem} invalid_request with every fault
 */
export const acceptParsed = <T>({ value, faults }: Parsed<T>): T => {
  if (faults === undefined) return value;
  throw new Problem("invalid_request", formatFaults(faults), { errors: faults });
};
