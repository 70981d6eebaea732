import { z } from "zod";
import { contract } from "../../contract/index.ts";
import { isList, type Operation } from "../../contract/operation.ts";
import type { Tool } from "../../../tools/tool.ts";

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

/** A list that keeps the export API's own form. */
export const isExportList = ({ output }: Operation): boolean =>
  output instanceof z.ZodObject && "data" in output.shape;

/** An export list that comes page by page, under a cursor of the platform's. */
export const isFollowed = ({ output }: Operation): boolean =>
  output instanceof z.ZodObject && "data" in output.shape && "pagination" in output.shape;

/**
 * Records that no field names apart: rows whose order never changes, so that what comes while they are read comes last,
 * and those that begin with what they belong to.
 */
const NAMELESS: ReadonlySet<string> = new Set([
  contract.payments.query.id,
  contract.export_runs.data.id,
  contract.webhooks.list_deliveries.id,
]);

export const isNameless = ({ id }: Operation): boolean => NAMELESS.has(id);

/** The frozen rows of a run. */
export const isRunData = (operation: Operation): boolean =>
  operation.id === contract.export_runs.data.id;

/** Lists that are read on from where an answer ended. */
export const isPaged = (operation: Operation): boolean =>
  isList(operation) ||
  isExportList(operation) ||
  isAttachmentList(operation) ||
  isApplicationList(operation);
