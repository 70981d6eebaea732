import type { Broker } from "../../../broker/port.ts";
import type { CallOptions } from "../../../client/port.ts";
import type { Transfers } from "../../../client/transfers.ts";
import { Problem } from "../../../contract/errors.ts";
import { contract } from "../../../contract/index.ts";
import type { ArgsOf } from "../../../contract/operation.ts";
import { findExtension, FILE_TYPES } from "../../../contract/file-types.ts";
import { attachmentUri, disputeFileUri } from "../../../insights/record-uris.ts";
import { kindOf } from "../../files/kind.ts";
import { type Fields, truncateToBudget } from "../../results/budget.ts";
import { fileRecord } from "../../results/file-content.ts";
import { sanitize, sanitizeLine } from "../../results/sanitize.ts";
import type { OpenFile } from "./text.ts";
import { readByNumber } from "../arguments/known-numbers.ts";

const { get } = contract.dispute_attachments;
const { get: getOfDocument } = contract.document_attachments;

/** A file of a dispute. */
export type DisputeFile = { disputeId: string; attachmentId: string };
export type Options = Pick<CallOptions, "tool"> & { signal: AbortSignal };

/** A file that can be downloaded. */
type Found = { fields: Fields; url: string; mimeType: string };

const unavailable = ({ status }: { status: string }): Problem =>
  new Problem(
    "conflict",
    `The file cannot be downloaded: its status is ${sanitizeLine(status, 40)}.`,
  );

const typeOf = (fileName: string): string => {
  const extension = findExtension(fileName);
  return extension === undefined ? "application/octet-stream" : FILE_TYPES[extension];
};

const findFile = async (broker: Broker, one: DisputeFile, options: Options): Promise<Found> => {
  const { output: record } = await broker.call(get, one, options);
  const { downloadUrl } = record;
  if (downloadUrl === null || downloadUrl === "") throw unavailable(record);
  const mimeType = typeOf(record.fileName);
  const uri = disputeFileUri(one.disputeId, one.attachmentId);
  const fields = { ...one, fileName: record.fileName, mimeType };
  return {
    fields: { ...(sanitize(fields) as Fields), resourceUri: uri },
    url: downloadUrl,
    mimeType,
  };
};

/** Opens the file of a dispute, which is behind a signed URL. */
export const openDisputeFile =
  (broker: Broker, transfers: Transfers, one: DisputeFile, options: Options): OpenFile =>
  async (maxBytes) => {
    const { fields, url, mimeType } = await findFile(broker, one, options);
    const fileName = String(fields["fileName"]);
    const most = maxBytes(kindOf(fileName, mimeType));
    const range = { maxBytes: most, part: false };
    const { bytes, fileSize } = await transfers.get(url, range, options.signal);
    return { fields, fileName, mimeType, fileSize: fileSize ?? bytes?.byteLength, bytes };
  };

/** The largest cost of what is said about a file. */
const FIELDS_TOKENS = 600;

/** Opens the PDF of a document. */
export const openDocumentFile =
  (broker: Broker, args: ArgsOf<typeof getOfDocument>, options: Options): OpenFile =>
  async (maxBytes) => {
    const most = maxBytes({ as: "text", type: ".pdf" });
    const found = await readByNumber({ broker, options }, args, async (spelt) => {
      const { output, bytes } = await broker.call(getOfDocument, spelt, {
        ...options,
        maxFileBytes: most,
      });
      return { record: fileRecord(spelt, output), bytes };
    });
    const { record: fields } = truncateToBudget(found.record, FIELDS_TOKENS);
    const { fileName, mimeType, fileSize, document_number, id } = found.record;
    return {
      fields: { ...fields, resourceUri: attachmentUri(String(document_number), String(id)) },
      fileName: String(fileName),
      mimeType: String(mimeType),
      fileSize: typeof fileSize === "number" ? fileSize : found.bytes?.byteLength,
      bytes: found.bytes,
    };
  };
