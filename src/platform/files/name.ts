// Characters not allowed in file names: separators, control characters, and marks that change the reading direction.
const FORBIDDEN = /[/\\:]|\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the last part of a path as a file name that is safe to save under. */
export const toSafeName = (written: string, otherwise: string): string => {
  const last = written.split(/[/\\]/).at(-1) ?? "";
  const name = last
    .toWellFormed()
    .normalize("NFC")
    .replaceAll(FORBIDDEN, "")
    .replace(/^[.\s]+/, "");
  return name.trim() === "" ? otherwise : name.trim();
};

const PLAIN = /[^\x20-\x7e]|["\\%]/gu;
// encodeURIComponent leaves these unencoded, but RFC 8187 requires it.
const UNENCODED = /['()*]/g;

const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    UNENCODED,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Returns Content-Disposition of a download (RFC 6266): an ASCII name for old clients, and the full name. */
export const formatDisposition = (name: string): string => {
  const plain = name.replaceAll(PLAIN, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeName(name)}`;
};
