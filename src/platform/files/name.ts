// What no file name may hold: separators, control characters, and marks that turn the reading direction.
const FORBIDDEN = /[/\\:]|\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The last part of a path that somebody wrote, as a name that is safe to save under. */
export const safeName = (written: string, otherwise: string): string => {
  const last = written.split(/[/\\]/).at(-1) ?? "";
  const name = last
    .toWellFormed()
    .normalize("NFC")
    .replaceAll(FORBIDDEN, "")
    .replace(/^[.\s]+/, "");
  return name.trim() === "" ? otherwise : name.trim();
};

const PLAIN = /[^\x20-\x7e]|["\\%]/gu;
// encodeURIComponent leaves these, and RFC 8187 does not.
const UNENCODED = /['()*]/g;

const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    UNENCODED,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Content-Disposition of a file to save, after RFC 6266: a plain name for the old, and the whole one. */
export const dispositionOf = (name: string): string => {
  const plain = name.replaceAll(PLAIN, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded(name)}`;
};
