import { contract } from "../src/contract/index.ts";
import type { Operation } from "../src/contract/operation.ts";
import { describeEntry, formatName, describePerson } from "./formatting.ts";
import { type Arguments, type Confirmation, defineTool, type UseRead } from "./tool.ts";

const { reasons, categories, departments, assignees, resolutions, disputes } = contract;

// A filter by part of a name can select other records too, so that more than one row is read.
const MOST_SELECTED = 100;

const isReasonOf = (row: Arguments, record: Arguments | undefined, names: readonly string[]) =>
  names.some((name) => row[name] === record?.["reasonId"]);

const categoryUses: readonly UseRead[] = [
  {
    operation: reasons.list_by_category,
    args: ({ categoryCode }) => ({ categoryCode }),
    text: ({ categoryCode }) =>
      `The category ${formatName(categoryCode)} has reasons. Move or delete them first.`,
  },
];

const departmentUses: readonly UseRead[] = [
  {
    operation: assignees.list,
    args: ({ departmentId }, { record }) => {
      const DepartmentId = departmentId ?? record?.["departmentId"];
      return DepartmentId === undefined ? undefined : { DepartmentId };
    },
    text: ({ departmentId, departmentCode }, { record }) =>
      `The department ${formatName(record?.["code"] ?? departmentCode ?? departmentId)} has assignees. Move them first.`,
  },
];

const assigneeUses: readonly UseRead[] = [
  {
    operation: disputes.list,
    args: ({ assigneeId }, { record }) => {
      const AssigneeId = assigneeId ?? record?.["assigneeId"];
      return AssigneeId === undefined ? undefined : { AssigneeId, Page: 1, PageSize: 1 };
    },
    text: ({ assigneeId, assigneeEmail }, { record }) =>
      `The assignee ${describePerson(record, assigneeEmail ?? assigneeId)} is named by disputes. Deactivate it instead.`,
  },
];

const describeResolutionUse: UseRead["text"] = (_args, { record }) =>
  `Disputes were closed with the resolution ${formatName(record?.["code"])}. Deactivate it instead.`;

/** The longest page of disputes: documented operations do not select by resolution. */
const MOST_CLOSED = 1000;
const CLOSED = 1;

const resolutionUses: readonly UseRead[] = [
  {
    operation: disputes.summary,
    args: (_args, { record }) =>
      record && { resolution: record["code"], groupBy: ["resolution"], limit: MOST_SELECTED },
    isUse: ({ key }, { record }) =>
      (key as Arguments | undefined)?.["resolution"] === record?.["code"],
    text: describeResolutionUse,
  },
  {
    operation: disputes.list,
    args: (_args, { record }) =>
      record && { Status: [CLOSED], Sort: "-CreateDate", Page: 1, PageSize: MOST_CLOSED },
    isUse: (row, { record }) => row["resolutionId"] === record?.["resolutionId"],
    text: describeResolutionUse,
  },
];

/** Creates the confirmation for deleting an entry that one argument identifies. */
const confirmEntryDeletion = (
  what: string,
  key: string,
  read: Operation,
  uses: readonly UseRead[],
): Confirmation => ({
  reads: { record: read },
  question: (args, { record }) => `Delete ${what} ${describeEntry(record, args[key])}?`,
  uses,
});

const reasonDeletion: Confirmation = {
  reads: { record: reasons.get },
  question: ({ reasonCode, categoryCode }, { record }) =>
    `Delete reason ${describeEntry(record, reasonCode)} of category ${formatName(categoryCode)}?`,
  uses: [
    {
      operation: categories.list,
      args: (_args, { record }) => record && {},
      isUse: (row, { record }) =>
        isReasonOf(row, record, ["defaultInternalReasonId", "defaultExternalReasonId"]),
      text: ({ reasonCode }) =>
        `The reason ${formatName(reasonCode)} is a default reason of a category. Give that another one first.`,
    },
    {
      operation: disputes.list,
      args: (_args, { record }) =>
        record && { ReasonName: record["description"], Page: 1, PageSize: MOST_SELECTED },
      isUse: (row, { record }) => isReasonOf(row, record, ["reasonId", "externalReasonId"]),
      text: ({ reasonCode }) =>
        `Disputes have the reason ${formatName(reasonCode)}. Deactivate it instead.`,
    },
  ],
};

const assigneeDeletion: Confirmation = {
  reads: { record: assignees.get_by_id },
  question: ({ assigneeId }, { record }) =>
    `Delete assignee ${describePerson(record, assigneeId)}?`,
  uses: assigneeUses,
};

const assigneeDeletionByEmail: Confirmation = {
  reads: { record: assignees.get },
  question: ({ assigneeEmail, departmentCode }, { record }) =>
    `Delete assignee ${describePerson(record, assigneeEmail)} of department ${formatName(departmentCode)}?`,
  uses: assigneeUses,
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
    confirm: confirmEntryDeletion("category", "categoryCode", categories.get, categoryUses),
  }),
  defineTool(departments.get),
  defineTool(departments.list),
  defineTool(departments.create),
  defineTool(departments.update),
  defineTool(departments.delete, undefined, {
    confirm: confirmEntryDeletion(
      "department",
      "departmentId",
      departments.get_by_id,
      departmentUses,
    ),
  }),
  defineTool(departments.delete_by_code, undefined, {
    confirm: confirmEntryDeletion("department", "departmentCode", departments.get, departmentUses),
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
    confirm: confirmEntryDeletion(
      "resolution",
      "resolutionId",
      resolutions.get_by_id,
      resolutionUses,
    ),
  }),
  defineTool(resolutions.delete_by_code, undefined, {
    confirm: confirmEntryDeletion("resolution", "resolutionCode", resolutions.get, resolutionUses),
  }),
];
