import type { SharedErrorCode } from "../../../contract/errors.ts";
import type { Db } from "../../store/port.ts";
import { isDispute } from "../../store/queries/disputes.ts";
import { shorten } from "../records.ts";

type Asking = { tenantId: string; fail(code: SharedErrorCode, message: string): never };

/** Checks that the dispute exists. @throws {Problem} not_found */
export const checkDispute = async (db: Db, call: Asking, disputeId: string): Promise<void> => {
  if (await isDispute(db, call.tenantId, disputeId)) return;
  call.fail("not_found", `There is no dispute ${shorten(disputeId)}.`);
};
