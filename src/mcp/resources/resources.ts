import { type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { Toolset } from "../../../tools/toolsets.ts";
import type { CallOptions } from "../../client/port.ts";
import { Problem } from "../../contract/errors.ts";
import type { CallerContext } from "../caller.ts";
import type { Fields } from "../results/budget.ts";
import type { FileContent } from "../results/file-content.ts";
import type { Paging } from "../results/pages.ts";
import { isSkillUri } from "../skills/skill-files.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { toJsonText } from "../results/json-text.ts";
import { protocolError } from "../results/protocol-errors.ts";
import {
  ACCOUNT,
  APPLICATION,
  APPLICATIONS,
  CONFIGURATION,
  DISPUTE,
  DOCUMENT,
  EXPORT_SCHEMA,
  GUIDE,
  SAVED,
} from "../results/resource-uris.ts";
import {
  isLong,
  MAX_SHOWN_URI,
  parseAttachmentUri,
  parseLastName,
  parseName,
  parseRunUri,
} from "./address.ts";
import { readApplication, readRecentApplications } from "./credit-resources.ts";
import { readConfiguration, readDispute } from "./dispute-resources.ts";
import { readPaymentSchema, readRun, readRuns } from "./export-resources.ts";
import { readAccount, readDocument, readDocumentFile } from "./ingest-resources.ts";
import { configurationNouns, JSON_TYPE } from "./resource-list.ts";
import { readViewResource } from "./view-resources.ts";

/** `brief`: codes and names of the configuration alone. `cursor`: of an earlier page of the resource. */
type ReadOptions = CallOptions & { signal: AbortSignal; brief?: boolean; cursor?: string };
type CallsOf = Omit<ReadOptions, "cursor">;

export type ReadResource = (uri: string, options: CallsOf) => Promise<ReadResourceResult>;

type DisputeFile = { disputeId: string; attachmentId: string };

/** Reads files, and their text. */
export type FileReader = {
  read(file: DisputeFile, options: CallsOf, paging: Paging): Promise<FileContent>;
  readText(file: DisputeFile, options: CallsOf, paging: Paging): Promise<FileContent>;
  readDocumentText(
    file: { document_number: string; id: string },
    options: CallsOf,
    paging: Paging,
  ): Promise<FileContent>;
  /** Reads a table that the caller has saved, or its text. */
  readSaved(name: string, options: CallsOf, paging: Paging): Promise<FileContent>;
  readSavedText(name: string, options: CallsOf, paging: Paging): Promise<FileContent>;
};

/** Reads the record or file with a URI; undefined for a URI of another kind. */
type Route<T> = (
  context: CallerContext,
  uri: string,
  options: CallsOf,
  paging: Paging,
) => Promise<T> | undefined;

const routeConfiguration: Route<Fields> = (context, uri, options, paging) => {
  if (uri === CONFIGURATION) return readConfiguration(context, configurationNouns, options, paging);
  const name = parseName(uri, `${CONFIGURATION}/`);
  const noun = configurationNouns.find((one) => one === name);
  return noun && readConfiguration(context, [noun], options, paging);
};

const routeDisputes: Route<Fields> = (context, uri, options, paging) => {
  const name = parseName(uri, DISPUTE);
  return name === undefined ? undefined : readDispute(context, name, options, paging);
};

const routeCredit: Route<Fields> = (context, uri, options, paging) => {
  if (uri === APPLICATIONS) return readRecentApplications(context, options, paging);
  const id = parseLastName(uri, APPLICATION);
  return id === undefined ? undefined : readApplication(context, id, options, paging);
};

const routePayments: Route<Fields> = (context, uri, options, paging) => {
  if (uri === EXPORT_SCHEMA) return readPaymentSchema(context, options);
  const source = parseLastName(uri, `${EXPORT_SCHEMA}/`);
  if (source !== undefined) return readPaymentSchema(context, options, source);
  const { scheduleId, runId } = parseRunUri(uri) ?? {};
  if (scheduleId === undefined) return undefined;
  return runId === undefined
    ? readRuns(context, scheduleId, options, paging)
    : readRun(context, scheduleId, runId, options, paging);
};

const routeIngest: Route<Fields> = (context, uri, options, paging) => {
  const account = parseLastName(uri, ACCOUNT);
  if (account !== undefined) return readAccount(context, account, options, paging);
  const document = parseLastName(uri, DOCUMENT);
  return document === undefined ? undefined : readDocument(context, document, options, paging);
};

const routeDocumentFiles =
  (files: FileReader): Route<FileContent> =>
  (context, uri, options, paging) => {
    const file = parseAttachmentUri(uri, DOCUMENT);
    if (file === undefined) return undefined;
    const { recordId: document_number, id } = file;
    return file.isText
      ? files.readDocumentText({ document_number, id }, options, paging)
      : readDocumentFile(context, document_number, id, options);
  };

const routeDisputeFiles =
  (files: FileReader): Route<FileContent> =>
  (_context, uri, options, paging) => {
    const file = parseAttachmentUri(uri, DISPUTE);
    if (file === undefined) return undefined;
    const one = { disputeId: file.recordId, attachmentId: file.id };
    return file.isText ? files.readText(one, options, paging) : files.read(one, options, paging);
  };

const AS_TEXT = "/text";

const routeSaved =
  (files: FileReader): Route<FileContent> =>
  (_context, uri, options, paging) => {
    const name = parseName(uri, SAVED);
    if (name === undefined) return undefined;
    return name.endsWith(AS_TEXT)
      ? files.readSavedText(name.slice(0, -AS_TEXT.length), options, paging)
      : files.readSaved(name, options, paging);
  };

const toJson =
  (route: Route<Fields>): Route<FileContent> =>
  (context, uri, options, paging) =>
    route(context, uri, options, paging)?.then((record) => ({
      mimeType: JSON_TYPE,
      text: toJsonText(record),
    }));

/** Returns the routes of the enabled toolsets. Routes to files come first: their URIs begin like a record's. */
const selectRoutes = ({ settings }: CallerContext, files: FileReader): Route<FileContent>[] => {
  const routes: [Toolset, Route<FileContent>][] = [
    ["ingest", routeDocumentFiles(files)],
    ["disputes", routeDisputeFiles(files)],
    ["dispute_configuration", toJson(routeConfiguration)],
    ["disputes", toJson(routeDisputes)],
    ["credit", toJson(routeCredit)],
    ["payments", toJson(routePayments)],
    ["ingest", toJson(routeIngest)],
  ];
  const active = routes.filter(([name]) => settings.toolsets.includes(name));
  return [routeSaved(files), ...active.map(([, route]) => route)];
};

type OpenPaging = (uri: string, cursor: string | undefined) => Paging;
/** The guide and the skills, by address. */
type OwnTexts = ReadonlyMap<string, string>;

type ReadContent = (uri: string, options: ReadOptions) => Promise<FileContent>;

const CURSOR = "?cursor=";

/** Splits the cursor from an address that has one: `receivables://disputes/D-1?cursor=…`. */
const splitCursor = (address: string): { uri: string; cursor?: string } => {
  const at = address.lastIndexOf(CURSOR);
  if (at === -1) return { uri: address };
  return { uri: address.slice(0, at), cursor: address.slice(at + CURSOR.length) };
};

/** Says in a text where it continues, for hosts that show resources alone. */
const withRest = (content: FileContent, uri: string): FileContent =>
  "text" in content && content.nextCursor !== undefined
    ? { ...content, text: `${content.text}\n\n[read on at ${uri}${CURSOR}${content.nextCursor}]` }
    : content;

/**
 * Creates the reader of the guide, of records and of files, which are sanitized and truncated like the results of tools.
 * What an answer has no room for is read with the cursor that it names, as an option or after the address.
 *
 * @throws {Problem} of the operations that a resource needs
 * @throws {ResourceNotFoundError} for a URI that no resource has
 */
export const createReadContent = (
  context: CallerContext,
  { files, own, openPaging }: { files: FileReader; own: OwnTexts; openPaging: OpenPaging },
): ReadContent => {
  const routes = selectRoutes(context, files);
  return async (address, { cursor, ...options }) => {
    // Before anything walks it, or repeats it.
    if (isLong(address)) throw new ResourceNotFoundError(address.slice(0, MAX_SHOWN_URI));
    const text = own.get(address);
    if (text !== undefined) return { mimeType: "text/markdown", text };
    const { uri, ...at } = splitCursor(address);
    const paging = openPaging(uri, cursor ?? at.cursor);
    for (const route of routes) {
      const content = route(context, uri, options, paging);
      if (content !== undefined) return withRest(await content, uri);
    }
    throw new ResourceNotFoundError(sanitizeLine(uri, MAX_SHOWN_URI));
  };
};

/** Creates the handler of `resources/read`; views belong to the listed tools. */
export const createReadResource =
  (readContent: ReadContent, tools: readonly { name: string }[]): ReadResource =>
  async (uri, options) => {
    const view = isLong(uri) ? undefined : await readViewResource(uri, tools);
    if (view !== undefined) return view;
    try {
      const read: FileContent & { nextCursor?: string } = await readContent(uri, options);
      // A text says itself where it continues.
      const { nextCursor: _next, ...content } = read;
      // Guide and skills are this server's own texts.
      const marks =
        uri === GUIDE || isSkillUri(uri) ? {} : { _meta: { "receivables/untrusted": true } };
      return { contents: [{ uri, ...content, ...marks }] };
    } catch (error) {
      throw protocolError(uri, error);
    }
  };

/**
 * Creates the reader of resources for a tool, whose failures are problems.
 *
 * @throws {Problem} not_found
 */
export const createReadForTool =
  (readContent: ReadContent, known: readonly string[]): ReadContent =>
  async (uri, options) => {
    try {
      return await readContent(uri, options);
    } catch (error) {
      if (!(error instanceof ResourceNotFoundError)) throw error;
      const shown = JSON.stringify(sanitizeLine(uri, MAX_SHOWN_URI));
      throw new Problem(
        "not_found",
        `No resource has the URI ${shown}; known: ${known.join(", ")}.`,
      );
    }
  };
