import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { CallerContext } from "../caller.ts";
import { askClosure } from "../../insights/document-reader.ts";
import { createLazy } from "../../kit/lazily.ts";
import type { Fields } from "../results/budget.ts";
import {
  blobOf,
  type FileContent,
  MAX_RESOURCE_BYTES,
  tooLargeToRead,
} from "../results/file-content.ts";
import { formOf } from "../results/record-form.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { partOfRecord, readWhole } from "./part.ts";
import type { Paging } from "../results/pages.ts";

const { accounts, documents, document_attachments: attachments } = contract;

/** Reads an account with its notes. */
export const readAccount = (
  context: CallerContext,
  account_number: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const load = createLazy(
    async () => (await context.broker.call(accounts.get, { account_number }, options)).output,
  );
  return readWhole(context, paging, {
    record: {
      name: "account",
      async read() {
        const { notes: _notes, ...account } = await load();
        return account;
      },
    },
    lists: { notes: partOfRecord(async () => (await load()).notes) },
  });
};

/** Reads a document with the list of its files; many lines of a document become a list of their own. */
export const readDocument = (
  context: CallerContext,
  document_number: string,
  options: CallOptions,
  paging: Paging,
): Promise<Fields> => {
  const { broker } = context;
  const args = { document_number };
  const files = partOfRecord(
    async () => (await broker.call(attachments.list, args, options)).output.attachments,
  );
  return readWhole(context, paging, {
    record: {
      name: "document",
      read: createLazy(async () => {
        const extensions = await broker.extensions(options.signal);
        const whole = { ...args, ...askClosure({ extensions }) };
        return formOf(documents.get)((await broker.call(documents.get, whole, options)).output);
      }),
    },
    lists: { attachments: files },
    ownLists: ["line_items"],
  });
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
