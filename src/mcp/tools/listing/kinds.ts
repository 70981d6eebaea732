import {
  type Access,
  findSideEffects,
  type Operation,
  takesExportKey,
} from "../../../contract/operation.ts";
import { isPermission, isScope } from "../../../contract/permissions.ts";
import { hasRowFields, selectsFields } from "../../results/rows.ts";
import {
  type Arguments,
  isInsightTool,
  type OperationTool,
  type Tool,
} from "../../../../tools/tool.ts";
import type { Scope } from "../../caller.ts";

/** Whether a tool changes nothing. */
export const isReading = (tool: Tool): boolean =>
  isInsightTool(tool) || tool.operation.effect === "read";

/** Whether a tool can do nothing without a key for the export and ingest services. */
export const needsExportKey = (tool: Tool): boolean =>
  (isInsightTool(tool) ? tool.insight.needs : [tool.operation]).some(takesExportKey);

export const isCreating = (operation: Operation): boolean => operation.effect === "create";

/** Whether a person is asked before some calls of a tool. */
export const mayAsk = ({ operation }: OperationTool): boolean => operation.effects.length > 0;

/** Whether a person is asked before a call of a tool with these arguments. */
export const asksAbout = ({ operation }: OperationTool, args: Arguments): boolean =>
  findSideEffects(operation, args).length > 0;

/** Whether the server takes `fields` for the rows of a list; the platform does not. */
export const takesFields = ({ operation }: OperationTool): boolean =>
  hasRowFields(operation) && !selectsFields(operation);

/** Whether the answer is a list that a cursor continues. */
export const isPaged = (operation: Operation): boolean => operation.list !== null;

/** Whether the whole result of a tool can be saved as a table: that of an insight, and any list. */
export const takesSave = (tool: Tool): boolean => isInsightTool(tool) || isPaged(tool.operation);

/** Returns the rights without which a tool can do nothing. */
export const rightsOfTool = (tool: Tool): Access[] => {
  const needed = isInsightTool(tool) ? tool.insight.needs : [tool.operation];
  const isRight = (access: Access): boolean => isPermission(access) || isScope(access);
  return [...new Set(needed.map(({ access }) => access).filter(isRight))];
};

/** Rights to change how a tenant works, who gets at it or where its data goes, not its daily records. */
const ADMIN = /^(Dispute Configuration|User Management) : |^export:manage$|^member$/;

/** Returns the scope that a caller needs to call a tool. */
export const scopeOfTool = (tool: Tool): Scope => {
  if (isReading(tool) || isInsightTool(tool) || tool.operation.effect === "session") return "read";
  return ADMIN.test(tool.operation.access) ? "admin" : "write";
};
