import type { WireReply } from "./port.ts";

const MAX_NAME = 255;
const FALLBACK_TYPE = "application/octet-stream";

// RFC 8187: a charset, a language that says nothing here, and percent-encoded text. RFC 6266 prefers it to the plain one.
const EXTENDED = /;\s*filename\*\s*=\s*utf-8'[^']*'(?<name>[^;\s]+)/i;
const QUOTED = /;\s*filename\s*=\s*"(?<name>(?:\\.|[^"\\])*)"/i;
const BARE = /;\s*filename\s*=\s*(?<name>[^";\s]+)/i;

const decoded = (text: string | undefined): string | undefined => {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const lastPart = (path: string): string => path.split(/[/\\]/).at(-1) ?? "";

/** The name in a Content-Disposition, without any folder. */
const nameIn = (disposition: string): string | undefined => {
  const plain = QUOTED.exec(disposition)?.groups?.["name"]?.replace(/\\(.)/g, "$1");
  const name =
    decoded(EXTENDED.exec(disposition)?.groups?.["name"]) ??
    plain ??
    BARE.exec(disposition)?.groups?.["name"] ??
    "";
  return lastPart(name).slice(0, MAX_NAME) || undefined;
};

const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}/;

const sizeOf = ({ headers, bytes }: WireReply): number | undefined => {
  const length = headers["content-length"];
  return bytes?.byteLength ?? (/^\d{1,15}$/.test(length ?? "") ? Number(length) : undefined);
};

/** What an answer's headers say of the file in it. */
export const describeFile = (reply: WireReply) => ({
  fileName: nameIn(reply.headers["content-disposition"] ?? ""),
  mimeType: MIME_TYPE.exec(reply.headers["content-type"] ?? "")?.[0].toLowerCase() ?? FALLBACK_TYPE,
  fileSize: sizeOf(reply),
});
