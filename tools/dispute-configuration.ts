import { contract } from "../src/contract/index.ts";
import { quoted, tool } from "./tool.ts";

const { reasons, categories, departments, assignees, resolutions } = contract;

const ask = (what: string, key: string) => ({
  confirm: (args: Readonly<Record<string, unknown>>) => `Delete ${what} ${quoted(args[key])}?`,
});

export const disputeConfiguration = [
  tool(reasons.get),
  tool(reasons.list),
  tool(reasons.list_by_category),
  tool(reasons.create),
  tool(reasons.update, "Change a dispute reason; name its category, or another to move it."),
  tool(reasons.delete, undefined, {
    confirm: ({ reasonCode, categoryCode }) =>
      `Delete reason ${quoted(reasonCode)} of category ${quoted(categoryCode)}?`,
  }),
  tool(categories.get),
  tool(categories.list),
  tool(categories.create),
  tool(categories.update),
  tool(categories.delete, undefined, ask("category", "categoryCode")),
  tool(departments.get),
  tool(departments.list),
  tool(departments.create),
  tool(departments.update),
  tool(departments.delete, undefined, ask("department", "departmentId")),
  tool(departments.delete_by_code, undefined, ask("department", "departmentCode")),
  tool(assignees.get),
  tool(assignees.list),
  tool(
    assignees.create,
    "Add an assignee to a department. person needs names and e-mail unless userId fills them.",
  ),
  tool(assignees.update, "Change an assignee; name the department, or another to move them."),
  tool(assignees.delete, undefined, ask("assignee", "assigneeId")),
  tool(assignees.delete_by_email, undefined, {
    confirm: ({ assigneeEmail, departmentCode }) =>
      `Delete assignee ${quoted(assigneeEmail)} of department ${quoted(departmentCode)}?`,
  }),
  tool(resolutions.get),
  tool(resolutions.list),
  tool(resolutions.create),
  tool(resolutions.update),
  tool(resolutions.delete, undefined, ask("resolution", "resolutionId")),
  tool(resolutions.delete_by_code, undefined, ask("resolution", "resolutionCode")),
];
