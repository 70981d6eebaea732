import type { Call } from "../../handlers.ts";
import { findAssignee, findAssigneeByEmail } from "../../store/queries/assignees.ts";
import { fold } from "../../store/engine/fold.ts";
import type { Db } from "../../store/port.ts";

type Named = {
  assigneeId?: string | null | undefined;
  assigneeEmail?: string | null | undefined;
};

/** Returns the assignee's id, null where the body clears it, undefined where the body has no assignee. */
export const chooseAssignee = async (
  tx: Db,
  call: Call,
  body: Named,
  current: string | null = null,
): Promise<string | null | undefined> => {
  const { assigneeId, assigneeEmail } = body;
  if (assigneeId === undefined && assigneeEmail === undefined) return undefined;
  if (!assigneeId && !assigneeEmail) return null;
  const field = assigneeId ? "assigneeId" : "assigneeEmail";
  const found = await (assigneeId
    ? findAssignee(tx, call.tenantId, assigneeId)
    : findAssigneeByEmail(tx, call.tenantId, assigneeEmail ?? ""));
  if (found === undefined) return call.refuse(field, "unknown_reference", "names no assignee");
  if (
    assigneeId &&
    assigneeEmail !== undefined &&
    found.email_folded !== fold(assigneeEmail ?? "")
  ) {
    call.refuse("assigneeEmail", "conflict", "is not the e-mail address of assigneeId");
  }
  if (found.active === 0 && found.id !== current) {
    call.refuse(field, "inactive", "names an inactive assignee");
  }
  return found.id;
};
