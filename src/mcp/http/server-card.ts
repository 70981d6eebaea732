import about from "../../../package.json" with { type: "json" };
import { hash } from "node:crypto";
import { ICONS } from "../icons.ts";
import { refuseMethod, refuseUnknownPath } from "./responses.ts";

/** The paths of the server card (SEP-2127) and of the catalogue that names it. */
export const CARD_PATH = "/mcp/server-card";
export const CATALOG_PATH = "/.well-known/ai-catalog.json";

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const CARD_TYPE = "application/mcp-server-card+json";
const CATALOG_TYPE = "application/ai-catalog+json";

const METHODS = "GET, HEAD, OPTIONS";

/** Nothing in the documents depends on the caller, so that scripts of any origin may read them. */
const FOR_ANY_ORIGIN = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": METHODS,
  "Access-Control-Allow-Headers": "If-None-Match",
  "Access-Control-Expose-Headers": "ETag",
  "Access-Control-Max-Age": "7200",
};

type Document = { text: string; type: string; etag: string };

const createDocument = (value: object, type: string): Document => {
  const text = JSON.stringify(value);
  return { text, type, etag: `"${hash("sha256", text, "hex").slice(0, 32)}"` };
};

const buildCard = ({ version, mcpUrl }: CardNeeds): object => ({
  $schema: SCHEMA,
  name: about.mcpName,
  title: "Receivables",
  description: about.mcpSummary,
  version,
  websiteUrl: about.homepage,
  icons: ICONS,
  remotes: [{ type: "streamable-http", url: mcpUrl }],
});

const buildCatalog = ({ mcpUrl }: CardNeeds): object => ({
  specVersion: "1.0",
  entries: [
    {
      identifier: `urn:air:${new URL(about.homepage).hostname}:mcp:${about.name}`,
      type: CARD_TYPE,
      url: `${mcpUrl}/server-card`,
    },
  ],
});

/** Compares weakly (RFC 9110, section 13.1.2): a proxy that compresses makes tags weak. */
const matchesTag = (sent: string | null, etag: string): boolean =>
  sent !== null &&
  (sent.trim() === "*" || sent.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag));

const answer = ({ text, type, etag }: Document, { method, headers }: Request): Response => {
  const common = { ...FOR_ANY_ORIGIN, ETag: etag, "Cache-Control": "public, max-age=300" };
  if (method === "OPTIONS") {
    return new Response(null, { status: 204, headers: { ...FOR_ANY_ORIGIN, Allow: METHODS } });
  }
  if (method !== "GET" && method !== "HEAD") {
    return refuseMethod(METHODS, FOR_ANY_ORIGIN);
  }
  if (matchesTag(headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers: common });
  }
  const own = { "Content-Type": type, "X-Content-Type-Options": "nosniff" };
  return new Response(text, { headers: { ...common, ...own } });
};

export type CardNeeds = {
  version: string;
  /** The MCP endpoint as hosts reach it. */
  mcpUrl: string;
};

/** Creates the handler of the server card and the catalogue, which need no credential and name no tenant. */
export const createCardHandler = (needs: CardNeeds): ((request: Request) => Response) => {
  const documents = new Map([
    [CARD_PATH, createDocument(buildCard(needs), CARD_TYPE)],
    [CATALOG_PATH, createDocument(buildCatalog(needs), CATALOG_TYPE)],
  ]);
  return (request) => {
    const document = documents.get(new URL(request.url).pathname);
    return document === undefined ? refuseUnknownPath() : answer(document, request);
  };
};
