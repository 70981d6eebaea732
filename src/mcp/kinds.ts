import { z } from "zod";
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

/** A list that keeps the export API's own form and cursor. */
export const isExportList = ({ output }: Operation): boolean =>
  output instanceof z.ZodObject && "data" in output.shape && "pagination" in output.shape;

/** Rows whose order never changes: what comes while they are read comes last. */
export const isSteady = (operation: Operation): boolean =>
  operation.id === contract.payments.query.id;

/** Lists that are read on from where an answer ended. */
export const isPaged = (operation: Operation): boolean =>
  isList(operation) ||
  isExportList(operation) ||
  isAttachmentList(operation) ||
  isApplicationList(operation);
