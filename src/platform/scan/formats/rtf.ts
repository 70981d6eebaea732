import { type Format, mismatch } from "../nest.ts";
import { LONGEST, lookForMalware, lookForPrograms } from "../signatures.ts";

const HEAD = "{\\rtf";
const MAX_FIELD_LENGTH = 4096;

/** Optional destinations (`{\*\word`) that only describe text, styles, lists and pictures. */
const DESTINATIONS = new Set(
  "generator fldinst panose falt fontemb listtable listpicture listlevel levelmarker liststylename listoverridetable revtbl rsidtbl pgptbl pgp pnseclvl pn pntxta pntxtb latentstyles themedata colorschememapping datastore wgrffmtfilter xmlnstbl mmathPr shppict picprop blipuid bliptag bkmkstart bkmkend expandedcolortbl defchp defpap cs ts company manager category keycode annotation atnid atnauthor atntime atndate atnref userprops ftnsep ftnsepc aftnsep aftnsepc fchars lchars protusertbl ud hl passwordhash".split(
    " ",
  ),
);
/** Words that embed or load something, whether or not a line end stands within them. */
const REFUSED =
  /\\(?:obj[a-z]*|template|dde[a-z]*|nextfile|filetbl|mailmerge|datafield|bin-?\d+|oleclsid|linkself|htmltag|hlinkbase|docvar)(?![a-z])/i;
/** The field codes that load nothing. Links lead to the web, to an e-mail address or within the text. */
const FIELD =
  /^\s*(?:(?:NUM)?PAGES?\b[^"]*$|HYPERLINK\s+(?:\\l\s+)?"?(?:https?:\/\/|mailto:|#)|HYPERLINK\s+\\l\b)/i;
// oxlint-disable-next-line no-control-regex -- some writers end the file with these
const SPACE = /^[\s\0\u001a]$/;
const WORD = /^([a-zA-Z]{1,64})(-?\d{1,10})?/;

const cutOff = () => mismatch("The RTF is cut off or broken.");
const active = () =>
  mismatch("The RTF embeds or loads something. Save it as plain text or PDF, and attach that.");

/** What a reader makes of the text: escapes resolved, line ends gone. */
const shown = (text: string): string =>
  text
    .replaceAll(/[\r\n]/g, "")
    .replaceAll(/\\'([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/\\([\\{}])/g, "$1");

/** Pictures are written as hexadecimal digits, and so could anything be. */
const digitsIn = (text: string): string =>
  text
    .replaceAll(/[\r\n\t ]/g, "")
    .match(/[0-9a-fA-F]{16,}/g)
    ?.map((digits) => {
      const odd = digits.slice(1);
      return `${Buffer.from(digits, "hex").toString("latin1")}\n${Buffer.from(odd, "hex").toString("latin1")}`;
    })
    .join("\n") ?? "";

/** Reads groups, control words and field codes; a word that a piece cuts in two waits for the next piece. */
class RtfReader {
  depth = 0;
  #begun = false;
  #isStarred = false;
  /** The depth of the group that holds a field code; 0 outside of one. */
  #fieldDepth = 0;
  #field = "";

  #endField(): void {
    this.#fieldDepth = 0;
    if (!FIELD.test(this.#field)) throw active();
    this.#field = "";
  }

  #text(text: string): void {
    if (this.#begun && this.depth === 0 && !SPACE.test(text)) {
      throw mismatch("Something follows the RTF's end.");
    }
    if (!SPACE.test(text)) this.#isStarred = false;
    if (this.#fieldDepth === 0) return;
    this.#field += text;
    if (this.#field.length > MAX_FIELD_LENGTH) throw active();
  }

  #word(word: string): void {
    if (this.depth === 0) throw cutOff();
    if (this.#isStarred && !DESTINATIONS.has(word.toLowerCase()) && !DESTINATIONS.has(word)) {
      throw active();
    }
    this.#isStarred = false;
    if (/^field$/i.test(word) && this.#fieldDepth > 0) throw active();
    if (/^fldinst$/i.test(word)) {
      if (this.#fieldDepth > 0) throw active();
      this.#fieldDepth = this.depth;
    }
  }

  /** Returns how many characters an escape takes. */
  #escape(rest: string): number {
    const [whole, word = ""] = WORD.exec(rest) ?? [];
    if (whole !== undefined) {
      this.#word(word);
      return whole.length + (rest[whole.length] === " " ? 1 : 0);
    }
    if (rest.startsWith("*")) this.#isStarred = true;
    // An escaped character in a field code could spell anything.
    else if (rest.startsWith("'")) {
      this.#text("?");
      return 3;
    } else this.#text(rest[0] ?? "");
    return 1;
  }

  /** Reads a text; returns what is left of it because more is needed. */
  read(text: string, isLast: boolean): string {
    const end = isLast ? text.length : text.length - LONGEST;
    let at = 0;
    while (at < end) {
      const char = text[at] ?? "";
      at += 1;
      if (char === "\\") at += this.#escape(text.slice(at, at + LONGEST));
      else if (char === "{") {
        this.#text("");
        this.depth += 1;
        this.#begun = true;
      } else if (char === "}") {
        if (this.#fieldDepth === this.depth) this.#endField();
        this.depth -= 1;
        if (this.depth < 0) throw cutOff();
      } else if (char !== "\r" && char !== "\n") this.#text(char);
    }
    return text.slice(at);
  }
}

/** A whole RTF group that shows text and pictures, and loads or embeds nothing. */
export const checkRtf: Format = async (bytes) => {
  const head = await bytes.read(0, HEAD.length);
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin like an RTF.");
  const reader = new RtfReader();
  let end = "";
  let rest = "";
  for await (const piece of bytes.pieces()) {
    const text = piece.toString("latin1");
    rest = reader.read(rest + text, false);
    const view = end + text;
    if (REFUSED.test(view.replaceAll(/[\r\n]/g, ""))) throw active();
    for (const seen of [shown(view), digitsIn(view)]) {
      lookForMalware(seen);
      lookForPrograms(seen);
    }
    // An escape takes four characters for one, and line ends may stand between.
    end = view.slice(-LONGEST * 8);
  }
  reader.read(rest, true);
  if (reader.depth !== 0) throw cutOff();
};
