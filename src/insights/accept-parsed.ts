import { Problem } from "../contract/errors.ts";
import { type Checked, formatFaults } from "../contract/faults.ts";

/**
 * Returns parsed arguments.
 *
 * @throws {Problem} invalid_request with every fault
 */
export const acceptParsed = <T>({ value, faults }: Checked<T>): T => {
  if (faults === undefined) return value;
  throw new Problem("invalid_request", formatFaults(faults), { errors: faults });
};
