import { contract } from "../contract/index.ts";
import { isList, type Operation } from "../contract/operation.ts";
import type { Tool } from "../../tools/tool.ts";

export const reads = (operation: Operation): boolean => operation.effect === "read";

export const isCreating = (operation: Operation): boolean => operation.effect === "create";

export const isUpdate = (operation: Operation): boolean =>
  operation.method === "PUT" || operation.method === "PATCH";

export const asks = (tool: Tool): boolean => tool.confirm !== undefined;

/** Reads by id are this platform's own: another may lack the route, so what they do not find may exist. */
export const isDocumented = ({ id }: Operation): boolean => !id.endsWith(".get_by_id");

/** The one list whose answer is an object that names what it belongs to. */
export const isAttachmentList = (operation: Operation): boolean =>
  operation.id === contract.document_attachments.list.id;

/** The one list whose answer has a summary beside it. */
export const isApplicationList = (operation: Operation): boolean =>
  operation.id === contract.credit_applications.list.id;

/** The one list that keeps the export API's own form and cursor. */
export const isAuditLog = (operation: Operation): boolean =>
  operation.id === contract.audit_logs.list.id;

/** Lists that are read on from where an answer ended. */
export const isPaged = (operation: Operation): boolean =>
  isList(operation) ||
  isAuditLog(operation) ||
  isAttachmentList(operation) ||
  isApplicationList(operation);
