const TOKEN = /\\([a-z]{1,64})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^])|([{}])|([^\\{}]+)|\\/gi;
/** Control words are at most this long, so a longer rest of a text can be read before the next piece arrives. */
const MAX_TOKEN_LENGTH = 128;
const MAX_CODE_LENGTH = 64 * 1024;
const MAX_DEPTH = 10_000;

export type RtfHandlers = {
  /** Receives a control word in lower case, with its number if it has one. */
  word(word: string, parameter: number | undefined): void;
  /** Receives text without control words. */
  text(text: string): void;
  /** Control words whose groups are collected. */
  collected: ReadonlySet<string>;
  /** Receives the text of a collected group. */
  group(word: string, text: string): void;
};

type Group = {
  word?: string;
  text: string;
  /** Optional destinations are no part of the text around them. */
  isSkipped: boolean;
};

/** Reads an RTF piece by piece: groups, control words and text, with escapes resolved as Word does. */
export class RtfReader {
  readonly #handlers: RtfHandlers;
  readonly #groups: Group[] = [];
  #rest = "";
  #isStarred = false;
  #unicodeSkip = 1;
  #fallback = 0;
  #binary = 0;

  constructor(handlers: RtfHandlers) {
    this.#handlers = handlers;
  }

  /** Whether every group has ended. */
  get isComplete(): boolean {
    return this.#groups.length === 0;
  }

  #write(text: string): void {
    const added = text.slice(this.#fallback);
    this.#fallback = Math.max(0, this.#fallback - text.length);
    this.#handlers.text(added);
    const at = this.#groups.findLastIndex(({ word }) => word !== undefined);
    const group = this.#groups[at];
    if (group === undefined || this.#groups.slice(at).some(({ isSkipped }) => isSkipped)) return;
    group.text += added;
    if (group.text.length > MAX_CODE_LENGTH) throw new Error("a group of the RTF is too long");
  }

  #word(word: string, parameter: number | undefined): void {
    const { collected, word: receive } = this.#handlers;
    receive(word, parameter);
    const group = this.#groups.at(-1);
    if (group !== undefined && collected.has(word)) group.word = word;
    else if (group !== undefined && this.#isStarred) group.isSkipped = true;
    this.#isStarred = false;
    if (word === "uc") this.#unicodeSkip = parameter ?? 1;
    if (word === "bin") this.#binary = Math.max(0, parameter ?? 0);
    if (word !== "u") return;
    this.#fallback = 0;
    this.#write(String.fromCharCode((parameter ?? 0) & 0xffff));
    this.#fallback = this.#unicodeSkip;
  }

  #brace(brace: string): void {
    if (brace === "{") this.#groups.push({ text: "", isSkipped: false });
    if (this.#groups.length > MAX_DEPTH) throw new Error("the RTF nests too deep");
    if (brace === "{") return;
    const { word, text = "" } = this.#groups.pop() ?? {};
    if (word !== undefined) this.#handlers.group(word, text);
  }

  /** Reads the next piece; `isLast` reads also what could continue in another one. */
  read(piece: string, isLast = false): void {
    const text = this.#rest + piece;
    const end = isLast ? text.length : text.length - MAX_TOKEN_LENGTH;
    let at = 0;
    while (at < end) {
      const skipped = Math.min(this.#binary, text.length - at);
      this.#binary -= skipped;
      at += skipped;
      TOKEN.lastIndex = at;
      const [whole = "", word, parameter, hex, symbol, brace, plain] = TOKEN.exec(text) ?? [];
      if (whole === "") break;
      at += whole.length;
      if (word !== undefined) {
        this.#word(word.toLowerCase(), parameter === undefined ? undefined : Number(parameter));
      } else if (hex !== undefined) this.#write(String.fromCharCode(parseInt(hex, 16)));
      else if (symbol === "*") this.#isStarred = true;
      else if (symbol !== undefined) this.#write(/[\\{}]/.test(symbol) ? symbol : " ");
      else if (plain !== undefined) this.#write(plain.replaceAll(/[\r\n]/g, ""));
      else if (brace !== undefined) this.#brace(brace);
    }
    this.#rest = text.slice(at);
  }
}
