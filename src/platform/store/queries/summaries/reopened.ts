import {
  findReopened,
  MOST_REOPENED,
  REOPENED_ACTION,
  type Reopened,
} from "../../../../contract/insights/reopened.ts";
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
    .limit(MOST_REOPENED)
    .execute();
  return findReopened(
    rows.map(({ metadata }): unknown => JSON.parse(metadata)),
    at,
  );
};
