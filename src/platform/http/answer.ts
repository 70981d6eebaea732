import { dispositionOf } from "../files/name.ts";
import type { FileAnswer, Listing } from "../handlers.ts";

const CHUNK_CHARACTERS = 64 * 1024;

export const isListing = (output: unknown): output is Listing<unknown> =>
  typeof output === "object" && output !== null && "rows" in output && "total" in output;

const isFile = (output: unknown): output is FileAnswer =>
  typeof output === "object" && output !== null && "bytes" in output;

/** Gives back what an output that nobody will read holds open. */
export const discard = async (output: unknown): Promise<void> => {
  if (isListing(output)) await output.close?.();
  if (isFile(output)) await output.bytes.cancel();
};

async function* arrayText(rows: Listing<unknown>["rows"]): AsyncIterable<string> {
  let text = "[";
  let separator = "";
  for await (const row of rows) {
    text += separator + JSON.stringify(row);
    separator = ",";
    if (text.length < CHUNK_CHARACTERS) continue;
    yield text;
    text = "";
  }
  yield `${text}]`;
}

// A receiver that stops reading must not hold a view of the store for ever.
const STALLED_MS = 60_000;

/** The rows as one JSON array, written as fast as the receiver reads. */
const streamed = ({ rows, close }: Listing<unknown>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const pieces = arrayText(rows)[Symbol.asyncIterator]();
  let stalled: NodeJS.Timeout | undefined;
  const end = async (): Promise<void> => {
    clearTimeout(stalled);
    await pieces.return?.();
    await close?.();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clearTimeout(stalled);
      try {
        const { done, value } = await pieces.next();
        if (done === true) {
          await end();
          controller.close();
          return;
        }
        controller.enqueue(encoder.encode(value));
      } catch (error) {
        await end();
        throw error;
      }
      stalled = setTimeout(() => {
        controller.error(new Error("the receiver stopped reading"));
        void end();
      }, STALLED_MS);
      stalled.unref();
    },
    cancel: end,
  });
};

const linkHeader = (listing: Listing<unknown>, url: URL): Record<string, string> => {
  if (listing.page === undefined) return {};
  const { page, pageSize } = listing.page;
  const to = (number: number, rel: string): string => {
    const target = new URL(url);
    target.searchParams.set("Page", String(number));
    target.searchParams.set("PageSize", String(pageSize));
    return `<${target.pathname}${target.search}>; rel="${rel}"`;
  };
  const links = [
    ...(page * pageSize < listing.total ? [to(page + 1, "next")] : []),
    ...(page > 1 ? [to(page - 1, "prev")] : []),
  ];
  return links.length === 0 ? {} : { Link: links.join(", ") };
};

// Whatever a file holds, a browser saves it and runs none of it.
const FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

const fileHeaders = ({ fileName, mimeType, fileSize }: FileAnswer): Record<string, string> => ({
  "Content-Type": mimeType,
  "Content-Length": String(fileSize),
  "Content-Disposition": dispositionOf(fileName),
  "Content-Security-Policy": FILE_POLICY,
});

/** An operation's output as its HTTP answer. A HEAD request wants no rows, so none are read for it. */
export const answer = async (
  { method }: Pick<Request, "method">,
  status: number,
  output: unknown,
  url: URL,
  headers: Record<string, string>,
): Promise<Response> => {
  if (status === 204) {
    // What is gone has no version any more.
    const { ETag: _version, ...rest } = headers;
    return new Response(null, { status, headers: rest });
  }
  if (method === "HEAD") await discard(output);
  if (isFile(output)) {
    return new Response(method === "HEAD" ? null : output.bytes, {
      status,
      headers: { ...headers, ...fileHeaders(output) },
    });
  }
  const all = { ...headers, "Content-Type": "application/json" };
  if (isListing(output)) {
    return new Response(method === "HEAD" ? null : streamed(output), {
      status,
      headers: { ...all, "X-Total-Count": String(output.total), ...linkHeader(output, url) },
    });
  }
  const total: Record<string, string> = Array.isArray(output)
    ? { "X-Total-Count": String(output.length) }
    : {};
  return new Response(JSON.stringify(output), { status, headers: { ...all, ...total } });
};
