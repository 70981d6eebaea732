/** Headers of the MCP endpoint as RFC 9110 and RFC 9112 read them, for the SDK, which compares texts. */
import { parseWeighted, type Weighted } from "../../kit/asset.ts";

/** Headers with one value. A proxy or a wrapper of a host may add a second, equal one. */
const SINGLE = [
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "last-event-id",
  "authorization",
  "origin",
];

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

/** Whether an Accept header admits a type (RFC 9110, section 12.5.1): the most specific range decides. */
const accepts = (ranges: readonly Weighted[], type: string): boolean => {
  const [group = ""] = type.split("/");
  const range = [type, `${group}/*`, "*/*"]
    .map((known) => ranges.find(({ name }) => name === known))
    .find((one) => one !== undefined);
  return range !== undefined && range.weight > 0;
};

/** Returns the Accept header for the SDK, which needs both types by name. No header admits every type. */
const normalizeAccept = (accept: string | null): string => {
  if (accept === null || accept.trim() === "") return `${JSON_TYPE}, ${STREAM_TYPE}`;
  const ranges = accept.split(",").map(parseWeighted);
  return [JSON_TYPE, STREAM_TYPE].filter((type) => accepts(ranges, type)).join(", ") || "none/none";
};

/** Returns the one value of a header; undefined for an empty one, and the text itself where values differ. */
const normalizeSingle = (text: string): string | undefined => {
  const values = new Set(text.split(",").map((value) => value.trim()));
  values.delete("");
  return values.size > 1 ? text : [...values][0];
};

/** Makes empty headers absent, equal ones single, and the accepted types explicit. */
export const normalizeHeaders = (request: Request): Request => {
  const { headers } = request;
  const accept = headers.get("accept");
  const changes = new Map<string, string | undefined>();
  for (const name of SINGLE) {
    const text = headers.get(name);
    const value = text === null ? null : normalizeSingle(text);
    if (value !== text) changes.set(name, value ?? undefined);
  }
  const normalized = normalizeAccept(accept);
  if (normalized !== accept) changes.set("accept", normalized);
  if (changes.size === 0) return request;
  const copy = new Headers(headers);
  for (const [name, value] of changes) {
    if (value === undefined) copy.delete(name);
    else copy.set(name, value);
  }
  return Object.defineProperty(request, "headers", { value: copy, configurable: true });
};
