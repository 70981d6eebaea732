import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { CallerContext } from "../caller.ts";
import { cost, type Fields, truncateToBudget } from "../results/budget.ts";
import {
  blobOf,
  type FileContent,
  MAX_RESOURCE_BYTES,
  tooLargeToRead,
} from "../results/file-content.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { MARGIN_TOKENS, type Part, truncatePart } from "./part.ts";

const { accounts, documents, document_attachments: attachments } = contract;

const toPart = (items: Fields[]): Part => ({ items, total: items.length, truncated: false });

/** Truncates a record to half of the budget, and the list of its parts to the rest. */
const truncateWithPart = (
  { settings }: CallerContext,
  record: Fields,
  part: Part,
): { record: Fields; part: Part } => {
  const budget = settings.answerTokens - MARGIN_TOKENS;
  const truncated = truncateToBudget(record, Math.floor(budget / 2)).record;
  const rest = budget - cost(truncated) - MARGIN_TOKENS;
  return { record: truncated, part: truncatePart(part, rest) };
};

/** Reads an account with its notes. */
export const readAccount = async (
  context: CallerContext,
  account_number: string,
  options: CallOptions,
): Promise<Fields> => {
  const { output } = await context.broker.call(accounts.get, { account_number }, options);
  const { notes, ...account } = output;
  const { record, part } = truncateWithPart(context, account, toPart(notes));
  return { account: record, notes: part };
};

/** Reads a document with the list of its files. */
export const readDocument = async (
  context: CallerContext,
  document_number: string,
  options: CallOptions,
): Promise<Fields> => {
  const { broker } = context;
  const [document, files] = await Promise.all([
    broker.call(documents.get, { document_number }, options),
    broker.call(attachments.list, { document_number }, options),
  ]);
  const list = toPart(files.output.attachments);
  const { record, part } = truncateWithPart(context, document.output, list);
  return { document: record, attachments: part };
};

/**
 * Reads a file of a document.
 *
 * @throws {Problem} payload_too_large
 */
export const readDocumentFile = async (
  { broker }: CallerContext,
  document_number: string,
  id: string,
  options: CallOptions,
): Promise<FileContent> => {
  const { output, bytes } = await broker.call(
    attachments.get,
    { document_number, id },
    { ...options, maxFileBytes: MAX_RESOURCE_BYTES },
  );
  const { mimeType, fileSize } = output;
  if (bytes !== undefined) {
    return { mimeType: sanitizeLine(mimeType, 255), blob: blobOf(bytes) };
  }
  throw tooLargeToRead(fileSize);
};
