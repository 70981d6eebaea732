import { contract } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";
import { entryNamed, named, personNamed } from "./shown.ts";
import { type Consent, tool } from "./tool.ts";

const { reasons, categories, departments, assignees, resolutions } = contract;

/** Asks about an entry that is named by one argument. */
const entry = (what: string, key: string, read: Operation): { confirm: Consent } => ({
  confirm: {
    reads: { record: read },
    question: (args, { record }) => `Delete ${what} ${entryNamed(record, args[key])}?`,
  },
});

const reason: Consent = {
  reads: { record: reasons.get },
  question: ({ reasonCode, categoryCode }, { record }) =>
    `Delete reason ${entryNamed(record, reasonCode)} of category ${named(categoryCode)}?`,
};

const assignee: Consent = {
  reads: { record: assignees.get_by_id },
  question: ({ assigneeId }, { record }) => `Delete assignee ${personNamed(record, assigneeId)}?`,
};

const assigneeByEmail: Consent = {
  reads: { record: assignees.get },
  question: ({ assigneeEmail, departmentCode }, { record }) =>
    `Delete assignee ${personNamed(record, assigneeEmail)} of department ${named(departmentCode)}?`,
};

export const disputeConfiguration = [
  tool(reasons.get),
  tool(reasons.list),
  tool(reasons.list_by_category),
  tool(reasons.create),
  tool(reasons.update, "Change a dispute reason; name its category, or another to move it."),
  tool(reasons.delete, undefined, { confirm: reason }),
  tool(categories.get),
  tool(categories.list),
  tool(categories.create),
  tool(categories.update),
  tool(categories.delete, undefined, entry("category", "categoryCode", categories.get)),
  tool(departments.get),
  tool(departments.list),
  tool(departments.create),
  tool(departments.update),
  tool(departments.delete, undefined, entry("department", "departmentId", departments.get_by_id)),
  tool(
    departments.delete_by_code,
    undefined,
    entry("department", "departmentCode", departments.get),
  ),
  tool(assignees.get),
  tool(assignees.list),
  tool(
    assignees.create,
    "Add an assignee to a department. person needs names and e-mail unless userId fills them.",
  ),
  tool(assignees.update, "Change an assignee; name the department, or another to move them."),
  tool(assignees.delete, undefined, { confirm: assignee }),
  tool(assignees.delete_by_email, undefined, { confirm: assigneeByEmail }),
  tool(resolutions.get),
  tool(resolutions.list),
  tool(resolutions.create),
  tool(resolutions.update),
  tool(resolutions.delete, undefined, entry("resolution", "resolutionId", resolutions.get_by_id)),
  tool(
    resolutions.delete_by_code,
    undefined,
    entry("resolution", "resolutionCode", resolutions.get),
  ),
];
