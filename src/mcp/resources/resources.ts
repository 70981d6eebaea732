import { type ReadResourceResult, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { buildGuide } from "../../../tools/guide.ts";
import { toolsetNames } from "../../../tools/toolsets.ts";
import type { CallerContext } from "../caller.ts";
import type { Fields } from "../results/budget.ts";
import { protocolError } from "../results/protocol-error.ts";
import {
  ACCOUNT,
  APPLICATION,
  APPLICATIONS,
  CONFIGURATION,
  DISPUTE,
  DOCUMENT,
  EXPORT_SCHEMA,
  GUIDE,
} from "../results/resource-uris.ts";
import { parseAttachmentUri, parseRunUri, parseName, parseLastName } from "./address.ts";
import { createReadCredit } from "./credit-resources.ts";
import { readConfiguration, readDispute } from "./dispute-resources.ts";
import { createReadSchema } from "./export-resources.ts";
import { createReadExports } from "./export-run-resources.ts";
import { createReadIngest } from "./ingest-resources.ts";
import { configurationNouns, JSON_TYPE, enabledResources } from "./resource-list.ts";

export type Asked = { tool: string; signal: AbortSignal };
export type ReadResource = (uri: string, asked: Asked) => Promise<ReadResourceResult>;

type Content = { mimeType: string } & ({ text: string } | { blob: string });

/** Reads the file of a dispute. */
export type ReadDisputeFile = (
  file: { disputeId: string; attachmentId: string },
  asked: Asked,
) => Promise<Content>;

/** Reads what a URI names; undefined for a URI of another kind. */
type Route<T> = (uri: string, asked: Asked) => Promise<T> | undefined;

const routeConfiguration =
  (context: CallerContext): Route<Fields> =>
  (uri, asked) => {
    if (uri === CONFIGURATION) return readConfiguration(context, configurationNouns, asked);
    const name = parseName(uri, `${CONFIGURATION}/`);
    const noun = configurationNouns.find((one) => one === name);
    return noun === undefined ? undefined : readConfiguration(context, [noun], asked);
  };

const routeDisputes =
  (context: CallerContext): Route<Fields> =>
  (uri, asked) => {
    const name = parseName(uri, DISPUTE);
    return name === undefined ? undefined : readDispute(context, name, asked);
  };

const routeCredit = (context: CallerContext): Route<Fields> => {
  const credit = createReadCredit(context);
  return (uri, asked) => {
    if (uri === APPLICATIONS) return credit.list(asked);
    const applicationId = parseLastName(uri, APPLICATION);
    return applicationId === undefined ? undefined : credit.one(applicationId, asked);
  };
};

const routePayments = (context: CallerContext): Route<Fields> => {
  const schema = createReadSchema(context);
  const exports = createReadExports(context);
  return (uri, asked) => {
    if (uri === EXPORT_SCHEMA) return schema.all(asked);
    const source = parseLastName(uri, `${EXPORT_SCHEMA}/`);
    if (source !== undefined) return schema.one(source, asked);
    const { scheduleId, runId } = parseRunUri(uri) ?? {};
    if (scheduleId === undefined) return undefined;
    return runId === undefined
      ? exports.runs(scheduleId, asked)
      : exports.run(scheduleId, runId, asked);
  };
};

type Ingest = ReturnType<typeof createReadIngest>;

const routeIngest =
  (ingest: Ingest): Route<Fields> =>
  (uri, asked) => {
    const account = parseLastName(uri, ACCOUNT);
    if (account !== undefined) return ingest.account(account, asked);
    const document = parseLastName(uri, DOCUMENT);
    return document === undefined ? undefined : ingest.document(document, asked);
  };

const routeDocumentFiles =
  (ingest: Ingest): Route<Content> =>
  (uri, asked) => {
    const found = parseAttachmentUri(uri, DOCUMENT);
    return found && ingest.file(found.of, found.id, asked);
  };

const routeDisputeFiles =
  (read: ReadDisputeFile): Route<Content> =>
  (uri, asked) => {
    const found = parseAttachmentUri(uri, DISPUTE);
    return found && read({ disputeId: found.of, attachmentId: found.id }, asked);
  };

const toJson =
  (route: Route<Fields>): Route<Content> =>
  (uri, asked) =>
    route(uri, asked)?.then((record) => ({
      mimeType: JSON_TYPE,
      text: JSON.stringify(record),
    }));

/** Returns the routes of the configured toolsets. Routes to files come first: their URIs begin like a record's. */
const createRoutes = (context: CallerContext, readFile: ReadDisputeFile): Route<Content>[] => {
  const has = enabledResources(context.settings);
  const ingest = createReadIngest(context);
  return [
    ...(has.ingest ? [routeDocumentFiles(ingest)] : []),
    ...(has.disputes ? [routeDisputeFiles(readFile)] : []),
    ...(has.configuration ? [toJson(routeConfiguration(context))] : []),
    ...(has.disputes ? [toJson(routeDisputes(context))] : []),
    ...(has.credit ? [toJson(routeCredit(context))] : []),
    ...(has.payments ? [toJson(routePayments(context))] : []),
    ...(has.ingest ? [toJson(routeIngest(ingest))] : []),
  ];
};

/** Creates the handler of `resources/read`: records are sanitized and truncated like the answers of tools. */
export const createReadResource = (
  context: CallerContext,
  readDisputeFile: ReadDisputeFile,
): ReadResource => {
  const { settings } = context;
  const routes = createRoutes(context, readDisputeFile);

  const readContent = (uri: string, asked: Asked): Promise<Content> => {
    for (const route of routes) {
      const content = route(uri, asked);
      if (content !== undefined) return content;
    }
    throw new ResourceNotFoundError(uri);
  };

  return async (uri, asked) => {
    if (uri === GUIDE) {
      const toolsets = toolsetNames.filter((name) => settings.toolsets.includes(name));
      const text = buildGuide(toolsets, settings.readOnly);
      return { contents: [{ uri, mimeType: "text/markdown", text }] };
    }
    try {
      const _meta = { "receivables/untrusted": true };
      return { contents: [{ uri, ...(await readContent(uri, asked)), _meta }] };
    } catch (error) {
      throw protocolError(uri, error);
    }
  };
};
