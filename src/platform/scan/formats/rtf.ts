import { type Format, mismatch } from "../scan-context.ts";
import { MAX_SIGNATURE_BYTES, detectMalware, detectPrograms } from "../signatures.ts";

const HEAD = "{\\rtf";
const MAX_FIELD_LENGTH = 4096;

/** Optional destinations (`{\*\word`) that only describe text, styles, lists and pictures. */
const DESTINATIONS = new Set(
  "generator fldinst panose falt fontemb listtable listpicture listlevel levelmarker liststylename listoverridetable revtbl rsidtbl pgptbl pgp pnseclvl pn pntxta pntxtb latentstyles themedata colorschememapping datastore wgrffmtfilter xmlnstbl mmathPr shppict picprop blipuid bliptag bkmkstart bkmkend expandedcolortbl defchp defpap cs ts company manager category keycode annotation atnid atnauthor atntime atndate atnref userprops ftnsep ftnsepc aftnsep aftnsepc fchars lchars protusertbl ud hl passwordhash".split(
    " ",
  ),
);
/** Control words that embed an object or load a file. Line ends are removed before the match. */
const REFUSED =
  /\\(?:obj[a-z]*|template|dde[a-z]*|nextfile|filetbl|mailmerge|datafield|bin-?\d+|oleclsid|linkself|htmltag|hlinkbase|docvar)(?![a-z])/i;
/** The allowed field codes: page numbers, and links to the web, an e-mail address or a bookmark. */
const FIELD =
  /^\s*(?:(?:NUM)?PAGES?\b[^"]*$|HYPERLINK\s+(?:\\l\s+)?"?(?:https?:\/\/|mailto:|#)|HYPERLINK\s+\\l\b)/i;
// oxlint-disable-next-line no-control-regex -- some programs end the file with these
const SPACE = /^[\s\0\u001a]$/;
const WORD = /^([a-zA-Z]{1,64})(-?\d{1,10})?/;

const createCutOffRefusal = () => mismatch("The RTF is cut off or broken.");
const createActiveRefusal = () =>
  mismatch("The RTF embeds an object or loads a file. Save it as plain text or PDF instead.");

/** Resolves escapes and removes line ends, as an RTF reader does. */
const decodeText = (text: string): string =>
  text
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(/\\'([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/\\([\\{}])/g, "$1");

/** Decodes runs of hexadecimal digits, in which RTF stores pictures, at both alignments. */
const decodeHexRuns = (text: string): string =>
  text
    .replaceAll(/[\r\n\t ]/g, "")
    .match(/[0-9a-fA-F]{16,}/g)
    ?.map((digits) => {
      const odd = digits.slice(1);
      return `${Buffer.from(digits, "hex").toString("latin1")}\n${Buffer.from(odd, "hex").toString("latin1")}`;
    })
    .join("\n") ?? "";

/** Parses groups, control words and field codes piece by piece; an incomplete word waits for the next piece. */
class RtfReader {
  depth = 0;
  #begun = false;
  #isStarred = false;
  /** The depth of the group that holds a field code; 0 outside of one. */
  #fieldDepth = 0;
  #field = "";

  #endField(): void {
    this.#fieldDepth = 0;
    if (!FIELD.test(this.#field)) throw createActiveRefusal();
    this.#field = "";
  }

  #text(text: string): void {
    if (this.#begun && this.depth === 0 && !SPACE.test(text)) {
      throw mismatch("The RTF has data after its end.");
    }
    if (!SPACE.test(text)) this.#isStarred = false;
    if (this.#fieldDepth === 0) return;
    this.#field += text;
    if (this.#field.length > MAX_FIELD_LENGTH) throw createActiveRefusal();
  }

  #word(word: string): void {
    if (this.depth === 0) throw createCutOffRefusal();
    if (this.#isStarred && !DESTINATIONS.has(word.toLowerCase()) && !DESTINATIONS.has(word)) {
      throw createActiveRefusal();
    }
    this.#isStarred = false;
    if (/^field$/i.test(word) && this.#fieldDepth > 0) throw createActiveRefusal();
    if (/^fldinst$/i.test(word)) {
      if (this.#fieldDepth > 0) throw createActiveRefusal();
      this.#fieldDepth = this.depth;
    }
  }

  /** Returns the length of the escape in characters, without its backslash. */
  #escape(rest: string): number {
    const [whole, word = ""] = WORD.exec(rest) ?? [];
    if (whole !== undefined) {
      this.#word(word);
      return whole.length + (rest[whole.length] === " " ? 1 : 0);
    }
    if (rest.startsWith("*")) this.#isStarred = true;
    // A field code could hide a word in escapes, so each counts as a character that no allowed code has.
    else if (rest.startsWith("'")) {
      this.#text("?");
      return 3;
    } else this.#text(rest[0] ?? "");
    return 1;
  }

  /** Parses text and returns the unparsed rest, which needs the next piece. */
  read(text: string, isLast: boolean): string {
    const end = isLast ? text.length : text.length - MAX_SIGNATURE_BYTES;
    let at = 0;
    while (at < end) {
      const char = text[at] ?? "";
      at += 1;
      if (char === "\\") at += this.#escape(text.slice(at, at + MAX_SIGNATURE_BYTES));
      else if (char === "{") {
        this.#text("");
        this.depth += 1;
        this.#begun = true;
      } else if (char === "}") {
        if (this.#fieldDepth === this.depth) this.#endField();
        this.depth -= 1;
        if (this.depth < 0) throw createCutOffRefusal();
      } else if (char !== "\r" && char !== "\n") this.#text(char);
    }
    return text.slice(at);
  }
}

/** Checks that an RTF is one complete group with text and pictures, and neither embeds objects nor loads files. */
export const checkRtf: Format = async (bytes) => {
  const head = await bytes.read(0, HEAD.length);
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin with {\\rtf.");
  const reader = new RtfReader();
  let end = "";
  let rest = "";
  for await (const piece of bytes.pieces()) {
    const text = piece.toString("latin1");
    rest = reader.read(rest + text, false);
    const view = end + text;
    if (REFUSED.test(view.replaceAll(/[\r\n]/g, ""))) throw createActiveRefusal();
    for (const seen of [decodeText(view), decodeHexRuns(view)]) {
      detectMalware(seen);
      detectPrograms(seen);
    }
    // One byte can take four characters as an escape, and line ends may lie between.
    end = view.slice(-MAX_SIGNATURE_BYTES * 8);
  }
  reader.read(rest, true);
  if (reader.depth !== 0) throw createCutOffRefusal();
};
