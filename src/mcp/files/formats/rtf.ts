import { type Content, toParts } from "../content.ts";
import { decodeAs } from "../decode.ts";
import { Unreadable } from "../port.ts";

/** Groups whose text is no text of the document. */
const DESTINATIONS = new Set(
  "fonttbl colortbl stylesheet info pict object themedata colorschememapping datastore listtable listoverridetable rsidtbl generator filetbl revtbl xmlnstbl latentstyles fldinst bkmkstart bkmkend".split(
    " ",
  ),
);

const SYMBOLS: Readonly<Record<string, string>> = {
  par: "\n",
  line: "\n",
  sect: "\n",
  page: "\n",
  row: "\n",
  nestrow: "\n",
  cell: "\t",
  nestcell: "\t",
  tab: "\t",
  emdash: "—",
  endash: "–",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  "~": "\u00a0",
  _: "-",
  "\n": "\n",
  "\r": "\n",
};

/** Encodings of code pages that have a name of their own. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10_000: "macintosh",
  65_001: "utf-8",
};
/** Code pages of the character sets of fonts. */
const CHARACTER_SETS: Readonly<Record<number, number>> = {
  77: 10_000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  238: 1250,
};

const encodingOf = (codePage: number): string => CODE_PAGES[codePage] ?? `windows-${codePage}`;

type Group = { skipped: boolean; isFonts: boolean; fallback: number; font: number };

const MAX_GROUPS = 10_000;
const MAX_CHARACTERS = 20_000_000;

/** Collects text; bytes that follow one another are decoded together, since a character can take two. */
class Output {
  readonly #parts: string[] = [];
  #bytes: number[] = [];
  #length = 0;
  codePage = 1252;

  byte(value: number): void {
    this.#bytes.push(value);
  }

  text(text: string): void {
    this.flush();
    if (this.#length > MAX_CHARACTERS) return;
    this.#length += text.length;
    this.#parts.push(text);
  }

  flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Uint8Array.from(this.#bytes);
    this.#bytes = [];
    const text = decodeAs(bytes, encodingOf(this.codePage)) ?? decodeAs(bytes, "windows-1252");
    this.text(text ?? "");
  }

  get value(): string {
    this.flush();
    return this.#parts.join("");
  }
}

class Reader {
  readonly #output = new Output();
  readonly #groups: Group[] = [];
  readonly #codePages = new Map<number, number>();
  #group: Group = { skipped: false, isFonts: false, fallback: 1, font: -1 };
  #own = 1252;
  #isOptional = false;
  /** Characters to skip: the replacement of a character for readers without Unicode. */
  #passed = 0;

  open(): void {
    if (this.#groups.length >= MAX_GROUPS) throw new Unreadable("Its groups are nested too deep.");
    this.#groups.push({ ...this.#group });
    this.#passed = 0;
  }

  close(): void {
    this.#group = this.#groups.pop() ?? this.#group;
    this.#passed = 0;
    this.#useFont();
  }

  #useFont(): void {
    const codePage = this.#codePages.get(this.#group.font) ?? this.#own;
    if (codePage === this.#output.codePage) return;
    this.#output.flush();
    this.#output.codePage = codePage;
  }

  byte(value: number): void {
    this.#isOptional = false;
    if (this.#passed > 0) this.#passed -= 1;
    else if (!this.#group.skipped) this.#output.byte(value);
  }

  symbol(name: string): void {
    if (name === "*") this.#isOptional = true;
    else if (name === "\\" || name === "{" || name === "}") this.byte(name.charCodeAt(0));
    else if (!this.#group.skipped) this.#output.text(SYMBOLS[name] ?? "");
  }

  word(name: string, value: number | undefined): void {
    const isOptional = this.#isOptional;
    this.#isOptional = false;
    const group = this.#group;
    if (DESTINATIONS.has(name) || (isOptional && name !== "shptxt")) {
      group.skipped = true;
      group.isFonts ||= name === "fonttbl";
    } else if (name === "ansicpg" && value !== undefined) {
      this.#own = value;
      this.#useFont();
    } else if (name === "uc") group.fallback = Math.max(0, value ?? 1);
    else if (name === "f" || name === "deff") this.#font(value ?? 0, name === "deff");
    else if (name === "fcharset" && group.isFonts) this.#charset(value ?? 0);
    else if (name === "u" && value !== undefined) this.#unicode(value);
    else if (!group.skipped && SYMBOLS[name] !== undefined) this.#output.text(SYMBOLS[name]);
  }

  #font(font: number, isDefault: boolean): void {
    if (isDefault && this.#group.font >= 0) return;
    this.#group.font = font;
    if (!this.#group.isFonts) this.#useFont();
  }

  #charset(charset: number): void {
    const codePage = CHARACTER_SETS[charset];
    if (codePage !== undefined) this.#codePages.set(this.#group.font, codePage);
  }

  #unicode(value: number): void {
    if (!this.#group.skipped) this.#output.text(String.fromCharCode(value & 0xffff));
    this.#passed = this.#group.fallback;
  }

  get value(): string {
    return this.#output.value;
  }
}

const HEX_PAIR = /^[0-9a-f]{2}$/i;
const isLetter = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a);
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const MAX_WORD = 32;
const MAX_DIGITS = 10;

/** Reads a control word or symbol after a backslash. Returns the index behind it. */
const readControl = (reader: Reader, source: string, from: number): number => {
  let at = from;
  while (at - from < MAX_WORD && isLetter(source.charCodeAt(at))) at += 1;
  if (at === from) {
    if (source[from] !== "'") {
      reader.symbol(source[from] ?? "");
      return from + 1;
    }
    const pair = source.slice(from + 1, from + 3);
    if (HEX_PAIR.test(pair)) reader.byte(Number.parseInt(pair, 16));
    return from + 3;
  }
  const name = source.slice(from, at);
  const start = at;
  if (source[at] === "-") at += 1;
  while (at - start < MAX_DIGITS && isDigit(source.charCodeAt(at))) at += 1;
  const value = Number.parseInt(source.slice(start, at), 10);
  if (name === "bin" && value > 0) return at + 1 + value;
  reader.word(name, Number.isNaN(value) ? undefined : value);
  return source[at] === " " ? at + 1 : at;
};

/** Reads the text of RTF in one pass. @throws {Unreadable} */
export const readRtf = async (bytes: Uint8Array): Promise<Content> => {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (!/^\s{0,16}\{\\rtf/.test(source.slice(0, 32))) {
    throw new Unreadable("The file is no RTF.");
  }
  const reader = new Reader();
  let at = 0;
  while (at < source.length) {
    const character = source[at] ?? "";
    at += 1;
    if (character === "\\") at = readControl(reader, source, at);
    else if (character === "{") reader.open();
    else if (character === "}") reader.close();
    else if (character !== "\n" && character !== "\r") reader.byte(character.charCodeAt(0));
  }
  return toParts([{ name: "text", text: reader.value.trim() }]);
};
