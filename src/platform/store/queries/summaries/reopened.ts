import {
  findReopened,
  MOST_REOPENED,
  ONLY_SOME_REOPENED,
  parseReopening,
  REOPENED_ACTION,
  type Reopened,
} from "../../../../contract/insights/reopened.ts";
import { mapInTurns } from "../../../../kit/in-turns.ts";
import type { Db } from "../../port.ts";
import { ofTenant } from "../../engine/rows.ts";

const DONE = 200;

/** Reads the disputes that had ended at a moment and have been reopened since, as the audit log has them. */
export const readReopened = async (db: Db, tenantId: string, at: number): Promise<Reopened> => {
  const rows = await ofTenant(db, "audit_logs", tenantId)
    .select("metadata")
    .where("action", "=", REOPENED_ACTION)
    .where("at", ">", at)
    .where("status_code", "=", DONE)
    .orderBy("at")
    .orderBy("seq")
    .limit(MOST_REOPENED + 1)
    .execute();
  const parsed = await mapInTurns(rows.slice(0, MOST_REOPENED), ({ metadata }) =>
    parseReopening(JSON.parse(metadata)),
  );
  const reopened = await findReopened(
    parsed.filter((one) => one !== undefined),
    at,
  );
  return rows.length <= MOST_REOPENED
    ? reopened
    : { ...reopened, notes: [...reopened.notes, ONLY_SOME_REOPENED] };
};
