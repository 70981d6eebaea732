import { respondWithText } from "../../kit/known-text.ts";
import { formatDisposition } from "../files/name.ts";
import type { FileAnswer, Listing, Page } from "../handlers.ts";
import { buildCacheHeaders, computeEtag, matchesIfNoneMatch } from "./etag.ts";
import {
  streamArray,
  type Cut,
  type Frame,
  createFileBody,
  streamPage,
  createStreamBody,
  type Spooling,
} from "./stream.ts";

const isListing = (output: unknown): output is Listing<unknown> =>
  typeof output === "object" && output !== null && "rows" in output && "total" in output;

export const isPage = (output: unknown): output is Page<object> =>
  typeof output === "object" &&
  output !== null &&
  "pagination" in output &&
  typeof output.pagination === "function";

/** A record with one streamed list. */
type WithList = { fields: object; list: string; listing: Listing<unknown> };

const hasList = (output: unknown): output is WithList =>
  typeof output === "object" && output !== null && "listing" in output && isListing(output.listing);

/** Returns the streamed list of an output: the output itself or one of its fields. */
export const findListing = (output: unknown): Listing<unknown> | undefined => {
  if (isListing(output)) return output;
  return hasList(output) ? output.listing : undefined;
};

const isFile = (output: unknown): output is FileAnswer =>
  typeof output === "object" && output !== null && "bytes" in output;

/** Releases the resources of an output that will not be read. */
export const discard = async (output: unknown): Promise<void> => {
  if (isPage(output)) await output.close();
  await findListing(output)?.close?.();
  if (isFile(output)) await output.bytes.cancel();
};

/** Returns the JSON before and after a streamed list. */
const buildFrame = (output: unknown): Frame => {
  if (!hasList(output)) return ["[", "]"];
  const fields = JSON.stringify({ ...output.fields, [output.list]: [] });
  return [fields.slice(0, -2), "]}"];
};

const buildLinkHeader = (
  listing: Listing<unknown>,
  url: URL,
  publicPath: string,
): Record<string, string> => {
  if (listing.page === undefined || listing.page.inBody === true) return {};
  const { page, pageSize } = listing.page;
  const to = (number: number, rel: string): string => {
    const target = new URL(url);
    target.searchParams.set("Page", String(number));
    target.searchParams.set("PageSize", String(pageSize));
    return `<${publicPath}${target.pathname}${target.search}>; rel="${rel}"`;
  };
  const links = [
    ...(page * pageSize < listing.total ? [to(page + 1, "next")] : []),
    ...(page > 1 ? [to(page - 1, "prev")] : []),
  ];
  return links.length === 0 ? {} : { Link: links.join(", ") };
};

// Browsers must save files and never run them.
const FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

const buildFileHeaders = ({
  fileName,
  mimeType,
  fileSize,
  span,
  etag,
}: FileAnswer): Record<string, string> => ({
  "Content-Type": mimeType,
  "Content-Length": String(span === undefined ? fileSize : span.to - span.from),
  ...(span && { "Content-Range": `bytes ${span.from}-${span.to - 1}/${fileSize}` }),
  ...(etag === undefined ? {} : { ETag: etag, "Accept-Ranges": "bytes" }),
  "Content-Disposition": formatDisposition(fileName),
  "Content-Security-Policy": FILE_POLICY,
});

/** Builds the response of a cacheable operation, 304 where the client has the current version. */
export const buildCachedResponse = (
  request: Pick<Request, "headers" | "method">,
  seconds: number,
  output: unknown,
  headers: Record<string, string>,
): { response: Response; bytes: number } => {
  const text = JSON.stringify(output);
  const etag = computeEtag(text);
  const all = { ...headers, ...buildCacheHeaders(seconds), ETag: etag };
  if (matchesIfNoneMatch(request, etag)) {
    return { response: new Response(null, { status: 304, headers: all }), bytes: 0 };
  }
  const body = request.method === "HEAD" ? null : text;
  return {
    response: new Response(body, { headers: { ...all, "Content-Type": "application/json" } }),
    bytes: body === null ? 0 : Buffer.byteLength(body),
  };
};

export type Sending = {
  method: string;
  cut?: Cut;
  spool?: Spooling;
  /** The path under which a proxy serves the routes. */
  publicPath?: string;
  /** Called with the size of the body when all of it was produced, or the client is gone. */
  done: (bytes: number) => void;
};

/** Builds the response to an operation. The rows and bytes of HEAD requests are not read. */
export const toResponse = async (
  { method, cut, spool, publicPath = "", done }: Sending,
  status: number,
  output: unknown,
  url: URL,
  headers: Record<string, string>,
): Promise<Response> => {
  const isEmpty = status === 204 || method === "HEAD";
  if (isEmpty) done(0);
  if (status === 204) return new Response(null, { status, headers });
  if (isEmpty) await discard(output);
  if (isFile(output)) {
    return new Response(isEmpty ? null : createFileBody(output.bytes, { cut, done }), {
      status: output.span === undefined ? status : 206,
      headers: { ...headers, ...buildFileHeaders(output) },
    });
  }
  const all = { ...headers, "Content-Type": "application/json" };
  if (isPage(output)) {
    const body = isEmpty
      ? null
      : createStreamBody(streamPage(output), { close: output.close, cut, spool, done });
    return new Response(body, { status, headers: all });
  }
  const listing = findListing(output);
  if (listing !== undefined) {
    const pieces = () => streamArray(listing.rows, buildFrame(output));
    const body = isEmpty
      ? null
      : createStreamBody(pieces(), { close: listing.close, cut, spool, done });
    const links = isListing(output) ? buildLinkHeader(listing, url, publicPath) : {};
    return new Response(body, {
      status,
      headers: { ...all, "X-Total-Count": String(listing.total), ...links },
    });
  }
  const total: Record<string, string> = Array.isArray(output)
    ? { "X-Total-Count": String(output.length) }
    : {};
  const text = JSON.stringify(output);
  if (!isEmpty) done(Buffer.byteLength(text));
  return respondWithText(text, { status, headers: { ...all, ...total } });
};
