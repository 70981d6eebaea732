import { contract } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";
import { describeEntry, formatName, describePerson } from "./formatting.ts";
import { type Confirmation, defineTool } from "./tool.ts";

const { reasons, categories, departments, assignees, resolutions } = contract;

/** Creates the confirmation for deleting an entry that one argument identifies. */
const confirmEntryDeletion = (what: string, key: string, read: Operation): Confirmation => ({
  reads: { record: read },
  question: (args, { record }) => `Delete ${what} ${describeEntry(record, args[key])}?`,
});

const reasonDeletion: Confirmation = {
  reads: { record: reasons.get },
  question: ({ reasonCode, categoryCode }, { record }) =>
    `Delete reason ${describeEntry(record, reasonCode)} of category ${formatName(categoryCode)}?`,
};

const assigneeDeletion: Confirmation = {
  reads: { record: assignees.get_by_id },
  question: ({ assigneeId }, { record }) =>
    `Delete assignee ${describePerson(record, assigneeId)}?`,
};

const assigneeDeletionByEmail: Confirmation = {
  reads: { record: assignees.get },
  question: ({ assigneeEmail, departmentCode }, { record }) =>
    `Delete assignee ${describePerson(record, assigneeEmail)} of department ${formatName(departmentCode)}?`,
};

export const disputeConfiguration = [
  defineTool(reasons.get),
  defineTool(reasons.list),
  defineTool(reasons.list_by_category),
  defineTool(reasons.create),
  defineTool(
    reasons.update,
    "Update a dispute reason. Send its category, or another one to move it.",
  ),
  defineTool(reasons.delete, undefined, { confirm: reasonDeletion }),
  defineTool(categories.get),
  defineTool(categories.list),
  defineTool(categories.create),
  defineTool(categories.update),
  defineTool(categories.delete, undefined, {
    confirm: confirmEntryDeletion("category", "categoryCode", categories.get),
  }),
  defineTool(departments.get),
  defineTool(departments.list),
  defineTool(departments.create),
  defineTool(departments.update),
  defineTool(departments.delete, undefined, {
    confirm: confirmEntryDeletion("department", "departmentId", departments.get_by_id),
  }),
  defineTool(departments.delete_by_code, undefined, {
    confirm: confirmEntryDeletion("department", "departmentCode", departments.get),
  }),
  defineTool(assignees.get),
  defineTool(assignees.list),
  defineTool(
    assignees.create,
    "Add an assignee to a department. person requires names and e-mail unless userId is given.",
  ),
  defineTool(
    assignees.update,
    "Update an assignee. Send the department, or another one to move the assignee.",
  ),
  defineTool(assignees.delete, undefined, { confirm: assigneeDeletion }),
  defineTool(assignees.delete_by_email, undefined, { confirm: assigneeDeletionByEmail }),
  defineTool(resolutions.get),
  defineTool(resolutions.list),
  defineTool(resolutions.create),
  defineTool(resolutions.update),
  defineTool(resolutions.delete, undefined, {
    confirm: confirmEntryDeletion("resolution", "resolutionId", resolutions.get_by_id),
  }),
  defineTool(resolutions.delete_by_code, undefined, {
    confirm: confirmEntryDeletion("resolution", "resolutionCode", resolutions.get),
  }),
];
