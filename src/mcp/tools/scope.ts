import type { Operation } from "../../contract/operation.ts";
import { isInsightTool, type Tool } from "../../../tools/tool.ts";
import type { Scope } from "../caller.ts";

/** Rights to change how a tenant works, who gets at it or where its data goes, not its daily records. */
const ADMIN = /^(Dispute Configuration|User Management) : |^export:manage$|^member$/;

/** Returns the scope that a caller needs for an operation. */
export const scopeOf = ({ effect, access }: Operation): Scope => {
  if (effect === "read" || effect === "session") return "read";
  return ADMIN.test(access) ? "admin" : "write";
};

/** Returns the scope that a caller needs to call a tool. */
export const scopeOfTool = (tool: Tool): Scope =>
  isInsightTool(tool) ? "read" : scopeOf(tool.operation);
