import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker/port.ts";
import type { CallOptions } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { findExtension, FILE_TYPES } from "../../contract/file-types.ts";
import { kindOf } from "../files/kind.ts";
import type { FileText } from "../files/port.ts";
import { dataBudget, present } from "../results/answer.ts";
import { cost, type Fields, truncateToBudget } from "../results/budget.ts";
import {
  blobOf,
  fileRecord,
  MAX_EMBEDDED_BYTES,
  type FileContent,
  MAX_RESOURCE_BYTES,
  tooLargeToRead,
  withFile,
} from "../results/file-content.ts";
import { sanitize, sanitizeLine } from "../results/sanitize.ts";
import { attachmentUri, disputeFileUri } from "../../insights/record-uris.ts";
import type { Given } from "./arguments.ts";
import { toPurpose } from "./binding.ts";
import { createCursors } from "./cursor.ts";
import { type Opened, type OpenFile, readFile, type Reading, showFile } from "./file-text.ts";
import { readByNumber } from "./known-numbers.ts";
import { malformedResponse } from "../results/refusal.ts";
import { isRecord } from "../../kit/json.ts";
import type { Working, ToolContext } from "./tool-context.ts";

const { get } = contract.dispute_attachments;
const { get: getOfDocument } = contract.document_attachments;

type One = { disputeId: string; attachmentId: string };
type Options = Pick<CallOptions, "tool"> & { signal: AbortSignal };

/** A file that can be downloaded. */
type Found = { fields: Fields; url: string; mimeType: string };

const unavailable = ({ status }: Fields): Problem =>
  new Problem(
    "conflict",
    `The file cannot be downloaded: its status is ${sanitizeLine(String(status), 40)}.`,
  );

const typeOf = (fileName: unknown): string => {
  const extension = findExtension(String(fileName));
  return extension === undefined ? "application/octet-stream" : FILE_TYPES[extension];
};

const findFile = async (broker: Broker, one: One, options: Options): Promise<Found> => {
  const { output } = await broker.call(get, one, options);
  const record = output as Fields;
  const { downloadUrl } = record;
  if (typeof downloadUrl !== "string" || downloadUrl === "") throw unavailable(record);
  const mimeType = typeOf(record["fileName"]);
  const uri = disputeFileUri(one.disputeId, one.attachmentId);
  const fields = { ...one, fileName: record["fileName"], mimeType };
  return {
    fields: { ...(sanitize(fields) as Fields), resourceUri: uri },
    url: downloadUrl,
    mimeType,
  };
};

/** Opens the file of a dispute, which is behind a signed URL. */
const openDisputeFile =
  (broker: Broker, { transfers }: ToolContext, one: One, options: Options): OpenFile =>
  async (maxBytes) => {
    const { fields, url, mimeType } = await findFile(broker, one, options);
    const fileName = String(fields["fileName"]);
    const most = maxBytes(kindOf(fileName, mimeType));
    const wanted = { maxBytes: most, part: false };
    const { bytes, fileSize } = await transfers.get(url, wanted, options.signal);
    return { fields, fileName, mimeType, fileSize: fileSize ?? bytes?.byteLength, bytes };
  };

/** Opens the PDF of a document. */
const openDocumentFile =
  (broker: Broker, args: Fields, options: Options): OpenFile =>
  async (maxBytes) => {
    const most = maxBytes({ as: "text", type: ".pdf" });
    const found = await readByNumber({ broker, options }, args, async (spelt) => {
      const { output, bytes } = await broker.call(getOfDocument, spelt, {
        ...options,
        maxFileBytes: most,
      });
      if (!isRecord(output)) throw malformedResponse();
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

/** The largest cost of what is said about a file. */
const FIELDS_TOKENS = 600;

/** A file itself, or where to read it. */
const presentFile = (opened: Opened): CallToolResult => {
  const { fields, fileSize, bytes } = opened;
  const structured = { ...fields, ...(fileSize === undefined ? {} : { fileSize }) };
  return withFile(present({ structured, notes: [], etag: null }), structured, bytes);
};

const isText = (mimeType: string): boolean => mimeType.startsWith("text/");

/** A file's text as one text, for a resource. */
const toPlainText = ({ text, next, notes, withoutText, unit, total }: FileText): string => {
  const pieces = text.map(({ page, sheet, range, text: words }) => {
    const place = page ?? (sheet === undefined ? undefined : [sheet, range].join(" "));
    return total === 1 || place === undefined ? words : `[${unit} ${place}]\n${words}`;
  });
  return [
    ...pieces,
    ...(withoutText.length === 0 ? [] : [`[pages without text: ${withoutText.join(", ")}]`]),
    ...notes.map((note) => `[${note}]`),
    ...(next === null ? [] : [`[more follows from ${unit} ${next.unit} of ${total}]`]),
  ].join("\n\n");
};

/** Reads the files of disputes and documents for tools, resources and insights. */
export const createDownload = (needs: ToolContext) => {
  const { key, now, settings, caller } = needs;
  const budget = dataBudget(settings.answerTokens);
  const cursors = createCursors(key, now);

  const show = async (open: OpenFile, call: Working, given: Given): Promise<CallToolResult> => {
    const { args, cursor, file = { as: "text" } } = given;
    if (file.as === "file") return presentFile(await open(() => MAX_EMBEDDED_BYTES));
    const purpose = toPurpose(needs, call.tool, { ...args, ...file });
    const at = cursor === undefined ? undefined : cursors.open(cursor, purpose);
    return showFile(open, {
      ...{ key: caller, signal: call.signal, budget, pages: file.pages },
      from: at === undefined ? null : { unit: Number(at.page), offset: at.offset },
      sealCursor: ({ unit, offset }) => cursors.seal({ page: unit, offset, after: null }, purpose),
    });
  };

  /** The beginning of a file's text, for a resource or an insight. */
  const begin = (
    open: OpenFile,
    { signal }: Options,
    { tokens, maxBytes }: { tokens: number; maxBytes?: number },
  ): ReturnType<typeof readFile> => {
    const reading: Reading = {
      ...{ key: caller, signal, from: { unit: 1, offset: 0 }, last: null, pictures: 0 },
      tokensBeside: () => tokens,
    };
    return maxBytes === undefined
      ? readFile(open, reading)
      : readFile(open, reading, () => maxBytes);
  };

  const readText = async (open: OpenFile, options: Options): Promise<FileContent> => {
    const read = await begin(open, options, { tokens: budget });
    if ("unreadable" in read) throw new Problem("unavailable", read.unreadable);
    if ("unreadable" in read.told) throw new Problem("conflict", read.told.unreadable);
    return { mimeType: "text/plain", text: toPlainText(read.told) };
  };

  return {
    download: (call: Working, given: Given): Promise<CallToolResult> => {
      const options = { tool: call.tool.name, signal: call.signal };
      return show(openDisputeFile(call.broker, needs, given.args as One, options), call, given);
    },

    downloadOfDocument: (call: Working, given: Given): Promise<CallToolResult> => {
      const options = { tool: call.tool.name, signal: call.signal };
      return show(openDocumentFile(call.broker, given.args, options), call, given);
    },

    /** Reads the file of a resource. */
    async read(one: One, options: Options): Promise<FileContent> {
      const open = openDisputeFile(needs.broker, needs, one, options);
      const opened = await open(() => MAX_RESOURCE_BYTES);
      const { mimeType, bytes, fileSize } = opened;
      if (bytes === undefined) throw tooLargeToRead(fileSize);
      if (isText(mimeType)) return readText(async () => opened, options);
      return { mimeType, blob: blobOf(bytes) };
    },

    /** Reads the text of a dispute's file, for a resource. */
    readText: (one: One, options: Options): Promise<FileContent> =>
      readText(openDisputeFile(needs.broker, needs, one, options), options),

    /** Reads the text of a document's file, for a resource. */
    readDocumentText: (args: Fields, options: Options): Promise<FileContent> =>
      readText(openDocumentFile(needs.broker, args, options), options),

    /** Reads the beginning of a dispute's file, for an insight; says why if it has no text. */
    async excerpt(
      broker: Broker,
      one: One,
      options: Options,
    ): Promise<{ text: string } | { unreadable: string }> {
      const open = openDisputeFile(broker, needs, one, options);
      const limits = { tokens: EXCERPT_TOKENS, maxBytes: MAX_EXCERPT_BYTES };
      const read = await begin(open, options, limits);
      if ("unreadable" in read) return read;
      const { told } = read;
      if ("unreadable" in told) return told;
      const text = told.text.map(({ text: words }) => words).join("\n");
      return text === "" ? { unreadable: "Its pages have no text." } : { text };
    },
  };
};

/** More tokens than 300 characters take in most languages. */
const EXCERPT_TOKENS = 300;
/** A larger file is not loaded for an excerpt. */
const MAX_EXCERPT_BYTES = 8 * 1024 * 1024;
