import { parseSavedName, SAVED_TYPES, type SavedFiles } from "../results/saved-files.ts";
import { refuseInText, refuseMethod } from "./responses.ts";
import { SAVED_PATH, type SavedLinks } from "../tools/saved-links.ts";

const GONE =
  "This address is none of this server's, or its hour is over. Ask your assistant to save the table again.";

const HEADERS = {
  "Cache-Control": "private, no-store",
  "Content-Security-Policy": "sandbox",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** Returns a file as a body after its first piece was read, so that a file that cannot be read is refused. */
const openBody = async (bytes: AsyncIterable<Uint8Array>): Promise<ReadableStream<Uint8Array>> => {
  const pieces = bytes[Symbol.asyncIterator]();
  const first = await pieces.next();
  async function* readOn(): AsyncGenerator<Uint8Array> {
    if (first.done !== true) yield first.value;
    yield* { [Symbol.asyncIterator]: () => pieces };
  }
  return ReadableStream.from(readOn());
};

/** Creates the downloads of saved tables: the address is the proof, and every browser saves the file. */
export const createSavedHandler =
  (links: Pick<SavedLinks, "open">, filesOf: (place: string) => SavedFiles) =>
  async (request: Request): Promise<Response> => {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return refuseMethod("GET, HEAD");
    const found = links.open(new URL(request.url).pathname.slice(SAVED_PATH.length));
    const parsed = found && parseSavedName(found.name);
    if (found === undefined || parsed === undefined) return refuseInText(404, GONE);
    const file = await filesOf(found.place).open(found);
    if (file === undefined) return refuseInText(404, GONE);
    const type = SAVED_TYPES[parsed.format];
    const body = await openBody(file.bytes);
    if (method === "HEAD") await body.cancel();
    return new Response(method === "HEAD" ? null : body, {
      headers: {
        ...HEADERS,
        "Content-Type": parsed.format === "csv" ? `${type}; charset=utf-8` : type,
        "Content-Length": String(file.size),
        "Content-Disposition": `attachment; filename="${found.name}"`,
      },
    });
  };
