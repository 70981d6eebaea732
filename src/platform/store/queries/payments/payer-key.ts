import { sql } from "kysely";
import { fold } from "../../engine/fold.ts";

const SEPARATOR = "|";

/** The payer of a row: its name and the end of its bank account, as the index of earlier payments has it. */
export const PAYER_KEY = sql<string>`payer_name_folded || ${sql.lit(SEPARATOR)} || coalesce(payer_account_last4_folded, '')`;

/** Returns the key of a payer; undefined without a name. */
export const toPayerKey = (name: unknown, last4: unknown): string | undefined =>
  typeof name === "string"
    ? fold(name) + SEPARATOR + (typeof last4 === "string" ? fold(last4) : "")
    : undefined;
