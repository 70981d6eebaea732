import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../../broker/port.ts";
import type { downloadFile } from "../../../../tools/dispute-operations.ts";
import type { contract } from "../../../contract/index.ts";
import type { ArgsOf } from "../../../contract/operation.ts";
import { Problem } from "../../../contract/errors.ts";
import type { FileText, Place } from "../../files/port.ts";
import { dataBudget, present } from "../../results/answer.ts";
import type { Paging } from "../../results/pages.ts";
import { sanitizeText } from "../../results/sanitize.ts";
import {
  blobOf,
  MAX_EMBEDDED_BYTES,
  type FileContent,
  MAX_RESOURCE_BYTES,
  tooLargeToRead,
  withFile,
} from "../../results/file-content.ts";
import type { Given } from "../arguments/arguments.ts";
import { toPurpose } from "../binding.ts";
import { createCursors } from "../cursor.ts";
import { type DisputeFile, openDisputeFile, openDocumentFile, type Options } from "./source.ts";
import { openSaved } from "./saved.ts";
import { type Opened, type OpenFile, readFile, type Reading, showFile } from "./text.ts";
import type { Working, ToolContext } from "../tool-context.ts";

type DocumentFiles = typeof contract.document_attachments.get;

/** A file itself, or where to read it. */
const presentFile = (opened: Opened): CallToolResult => {
  const { fields, fileSize, bytes } = opened;
  const structured = { ...fields, ...(fileSize === undefined ? {} : { fileSize }) };
  return withFile(present({ structured, notes: [], etag: null }), structured, bytes);
};

const isText = (mimeType: string): boolean => mimeType.startsWith("text/");

/** A file's text as one text, for a resource; hosts may render it. */
const toPlainText = ({ text, notes, withoutText, unit, total }: FileText): string => {
  const pieces = text.map(({ page, sheet, range, text: words }) => {
    const place = page ?? (sheet === undefined ? undefined : [sheet, range].join(" "));
    const shown = sanitizeText(words);
    return total === 1 || place === undefined ? shown : `[${unit} ${place}]\n${shown}`;
  });
  return [
    ...pieces,
    ...(withoutText.length === 0 ? [] : [`[pages without text: ${withoutText.join(", ")}]`]),
    ...notes.map((note) => `[${note}]`),
  ].join("\n\n");
};

/** More tokens than 300 characters take in most languages. */
const EXCERPT_TOKENS = 300;
/** A larger file is not loaded for an excerpt. */
const MAX_EXCERPT_BYTES = 8 * 1024 * 1024;

type Limits = { caller: string; tokens: number; maxBytes?: number; from?: Place };

/** Reads a file's text, from its beginning or another place, as far as the tokens go. */
const readWithin = (
  open: OpenFile,
  { signal }: Options,
  { caller, tokens, maxBytes, from = { unit: 1, offset: 0 } }: Limits,
): ReturnType<typeof readFile> => {
  const reading: Reading = {
    key: caller,
    signal,
    from,
    last: null,
    pictures: 0,
    tokensBeside: () => tokens,
  };
  return maxBytes === undefined ? readFile(open, reading) : readFile(open, reading, () => maxBytes);
};

const TEXT = "text";

/** Reads a page of a file's text. @throws {Problem} which says why the file has no text */
const readText = async (
  open: OpenFile,
  options: Options,
  limits: Limits,
  paging: Paging,
): Promise<FileContent> => {
  const { position } = paging.from ?? {};
  const from = position && { unit: Number(position.page), offset: position.offset };
  const read = await readWithin(open, options, { ...limits, ...(from && { from }) });
  if ("unreadable" in read) throw new Problem("unavailable", read.unreadable);
  const { content } = read;
  if ("unreadable" in content) throw new Problem("conflict", content.unreadable);
  const file = { mimeType: "text/plain", text: toPlainText(content) };
  if (content.next === null) return file;
  const next = { page: content.next.unit, offset: content.next.offset, after: null };
  return { ...file, nextCursor: paging.seal({ part: TEXT, position: next }) };
};

const readExcerpt = async (
  open: OpenFile,
  options: Options,
  caller: string,
): Promise<{ text: string } | { unreadable: string }> => {
  const limits = { caller, tokens: EXCERPT_TOKENS, maxBytes: MAX_EXCERPT_BYTES };
  const read = await readWithin(open, options, limits);
  if ("unreadable" in read) return read;
  const { content } = read;
  if ("unreadable" in content) return content;
  const text = content.text.map(({ text: words }) => words).join("\n");
  return text === "" ? { unreadable: "Its pages have no text." } : { text };
};

const optionsOf = ({ tool, signal }: Working): Options => ({ tool: tool.name, signal });

/** Shows a file to a tool's caller: as text or pictures, or the file itself. */
const createShow = (needs: ToolContext, budget: number) => {
  const { key, now, caller } = needs;
  const cursors = createCursors(key, now);
  return async (open: OpenFile, call: Working, given: Given): Promise<CallToolResult> => {
    const { args, cursor, file = { as: "text" } } = given;
    if (file.as === "file") return presentFile(await open(() => MAX_EMBEDDED_BYTES));
    const purpose = toPurpose(needs, call.tool, { ...args, ...file });
    const at = cursor === undefined ? undefined : cursors.open(cursor, purpose);
    return showFile(open, {
      key: caller,
      signal: call.signal,
      budget,
      pages: file.pages,
      from: at === undefined ? null : { unit: Number(at.page), offset: at.offset },
      sealCursor: ({ unit, offset }) => cursors.seal({ page: unit, offset, after: null }, purpose),
    });
  };
};

/** Reads the files of disputes and documents for tools, resources and insights. */
export const createDownload = (needs: ToolContext) => {
  const { settings, caller, transfers } = needs;
  const budget = dataBudget(settings.answerTokens);
  const show = createShow(needs, budget);
  const limits = { caller, tokens: budget };
  const openOf = (broker: Broker, one: DisputeFile, options: Options): OpenFile =>
    openDisputeFile(broker, transfers, one, options);

  return {
    download: (call: Working, given: Given<typeof downloadFile>): Promise<CallToolResult> =>
      show(openOf(call.broker, given.args, optionsOf(call)), call, given),

    downloadOfDocument: (call: Working, given: Given<DocumentFiles>): Promise<CallToolResult> =>
      show(openDocumentFile(call.broker, given.args, optionsOf(call)), call, given),

    /** Reads the file of a resource. */
    async read(one: DisputeFile, options: Options, paging: Paging): Promise<FileContent> {
      const opened = await openOf(needs.broker, one, options)(() => MAX_RESOURCE_BYTES);
      const { mimeType, bytes, fileSize } = opened;
      if (bytes === undefined) throw tooLargeToRead(fileSize);
      if (isText(mimeType)) return readText(async () => opened, options, limits, paging);
      return { mimeType, blob: blobOf(bytes) };
    },

    /** Reads the text of a dispute's file, for a resource. */
    readText: (one: DisputeFile, options: Options, paging: Paging): Promise<FileContent> =>
      readText(openOf(needs.broker, one, options), options, limits, paging),

    /** Reads the text of a document's file, for a resource. */
    readDocumentText: (
      args: ArgsOf<DocumentFiles>,
      options: Options,
      paging: Paging,
    ): Promise<FileContent> =>
      readText(openDocumentFile(needs.broker, args, options), options, limits, paging),

    /** Reads a table that the caller has saved, as it is. */
    async readSaved(name: string): Promise<FileContent> {
      const { mimeType, bytes, fileSize } = await openSaved(needs, name)(() => MAX_RESOURCE_BYTES);
      if (bytes === undefined) throw tooLargeToRead(fileSize);
      return isText(mimeType)
        ? { mimeType, text: Buffer.from(bytes).toString("utf8") }
        : { mimeType, blob: blobOf(bytes) };
    },

    readSavedText: (name: string, options: Options, paging: Paging): Promise<FileContent> =>
      readText(openSaved(needs, name), options, limits, paging),

    /** Reads the beginning of a dispute's file, for an insight; says why if it has no text. */
    excerpt: (broker: Broker, one: DisputeFile, options: Options) =>
      readExcerpt(openOf(broker, one, options), options, caller),
  };
};
