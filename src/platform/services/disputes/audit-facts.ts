import { formatTimestamp } from "../../../kit/clock.ts";
import type { NamedDispute } from "../../store/queries/disputes.ts";

/** The columns that people change, by the words of the audit log. */
const FIELDS = {
  amount: "amount",
  reason: "reason_id",
  externalReason: "external_reason_id",
  assignee: "assignee_id",
  poNumber: "po_number",
  resolution: "resolution_id",
  valid: "is_valid",
} as const satisfies Record<string, keyof NamedDispute>;

/** Returns status and time of a dispute that has ended, for the audit entry of its reopening: the record loses them. */
export const describeEnd = ({ status, closed_at }: NamedDispute): Record<string, string> =>
  closed_at === null
    ? {}
    : { formerStatus: String(status), formerClosedDate: formatTimestamp(closed_at) };

const describeAssignees = (before: NamedDispute, after: NamedDispute): Record<string, string> =>
  before.assignee_id === after.assignee_id
    ? {}
    : { formerAssigneeId: before.assignee_id ?? "", assigneeId: after.assignee_id ?? "" };

/** Names the fields that an update has changed, and both assignees of a reassignment. */
export const describeChange = (
  before: NamedDispute,
  after: NamedDispute,
): Record<string, string> => ({
  changed: Object.entries(FIELDS)
    .filter(([, column]) => before[column] !== after[column])
    .map(([name]) => name)
    .join(","),
  ...describeAssignees(before, after),
});
