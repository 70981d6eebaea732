import { addCast, type Cast } from "./cast.ts";
import { type WorldFile, toFiles } from "./files.ts";
import { addOthers } from "./generate.ts";
import { createLedger } from "./ledger.ts";
import type { Records } from "./records.ts";

export { createApi } from "./api.ts";
export { loadWorld, type LoadedWorld, openWorld } from "./load.ts";
export { readState } from "./state.ts";

/** A generated tenant. What is true of it follows from its records, not from a platform that has them. */
export type World = {
  /** The present day of the tenant, to which all dates are relative. */
  day: string;
  records: Records;
  /** The records that tasks are about. */
  cast: Cast;
  files: readonly WorldFile[];
};

/** Generates the tenant as of a day, always the same one. */
export const makeWorld = ({ day }: { day: string }): World => {
  const ledger = createLedger(day);
  const cast = addCast(ledger);
  addOthers(ledger);
  return { day, records: ledger.records, cast, files: toFiles(ledger.records) };
};
