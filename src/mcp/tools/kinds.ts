import { findSideEffects, type Operation } from "../../contract/operation.ts";
import {
  type Arguments,
  isInsightTool,
  type OperationTool,
  type Tool,
} from "../../../tools/tool.ts";

/** Whether a tool changes nothing. */
export const isReading = (tool: Tool): boolean =>
  isInsightTool(tool) || tool.operation.effect === "read";

export const isCreating = (operation: Operation): boolean => operation.effect === "create";

export const isUpdate = (operation: Operation): boolean =>
  operation.method === "PUT" || operation.method === "PATCH";

/** Whether a person is asked before some calls of a tool. */
export const mayAsk = ({ operation }: OperationTool): boolean => operation.effects.length > 0;

/** Whether a person is asked before a call of a tool with these arguments. */
export const asksAbout = ({ operation }: OperationTool, args: Arguments): boolean =>
  findSideEffects(operation, args).length > 0;

/** Lists that an answer may end within, and whose next call goes on from there. */
export const isPaged = (operation: Operation): boolean => operation.list !== null;
