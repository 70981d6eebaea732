import type { WireReply } from "./port.ts";

const MAX_NAME = 255;
const FALLBACK_TYPE = "application/octet-stream";

// RFC 8187: charset, language (ignored) and percent-encoded text. RFC 6266 prefers it to the plain form.
const EXTENDED = /;\s*filename\*\s*=\s*utf-8'[^']*'(?<name>[^;\s]+)/i;
const QUOTED = /;\s*filename\s*=\s*"(?<name>(?:\\.|[^"\\])*)"/i;
const BARE = /;\s*filename\s*=\s*(?<name>[^";\s]+)/i;

const decodePercent = (text: string | undefined): string | undefined => {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** Parses the file name of a Content-Disposition header (RFC 6266), without folders. */
const parseFileName = (disposition: string): string | undefined => {
  const plain = QUOTED.exec(disposition)?.groups?.["name"]?.replace(/\\(.)/g, "$1");
  const name =
    decodePercent(EXTENDED.exec(disposition)?.groups?.["name"]) ??
    plain ??
    BARE.exec(disposition)?.groups?.["name"] ??
    "";
  return name.split(/[/\\]/).at(-1)?.slice(0, MAX_NAME) || undefined;
};

const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}/;

const parseSize = ({ headers, bytes }: WireReply): number | undefined => {
  const length = headers["content-length"];
  return bytes?.byteLength ?? (/^\d{1,15}$/.test(length ?? "") ? Number(length) : undefined);
};

/** Describes the file of a response from its headers. */
export const describeFile = (reply: WireReply) => ({
  fileName: parseFileName(reply.headers["content-disposition"] ?? ""),
  mimeType: MIME_TYPE.exec(reply.headers["content-type"] ?? "")?.[0].toLowerCase() ?? FALLBACK_TYPE,
  fileSize: parseSize(reply),
});
