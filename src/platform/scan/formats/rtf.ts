import { isLocalPath } from "../links.ts";
import { type Format, mismatch, type ScanContext } from "../scan-context.ts";
import { detectMalware, detectPrograms, MAX_SIGNATURE_BYTES } from "../signatures.ts";
import { checkFieldCode } from "./fields.ts";

const MAX_CODE_LENGTH = 64 * 1024;
const MAX_DEPTH = 10_000;
/** Control words that embed an object, or load data or another document. */
const REFUSED =
  /^(?:object|objdata|objemb|objlink|objautlink|objsub|objpub|objicemb|objhtml|objocx|objclass|objupdate|oleclsid|linkself|filetbl|nextfile|mmconnectstr|mmconnectstrdata|mmdatasource|mmheadersource|mmodsoudldata|mmodsosrc)$/;
const TOKEN = /\\([a-z]{1,64})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^])|([{}])|([^\\{}]+)|\\/gi;

type Group = {
  kind?: "fldinst" | "template";
  /** The text of a field code or of a template's path. */
  code: string;
  /** Optional destinations are no part of the code around them. */
  isSkipped: boolean;
};

/** Reads groups, control words and text, and checks fields and templates when their group ends. */
class RtfReader {
  readonly #nest: ScanContext;
  readonly groups: Group[] = [];
  #isStarred = false;
  #unicodeSkip = 1;
  #fallback = 0;
  #binary = 0;
  /** The text without control words. */
  text = "";

  constructor(nest: ScanContext) {
    this.#nest = nest;
  }

  #write(text: string): void {
    const added = text.slice(this.#fallback);
    this.#fallback = Math.max(0, this.#fallback - text.length);
    this.text += added;
    const at = this.groups.findLastIndex(({ kind }) => kind !== undefined);
    const group = this.groups[at];
    if (group === undefined || this.groups.slice(at).some(({ isSkipped }) => isSkipped)) return;
    group.code += added;
    if (group.code.length > MAX_CODE_LENGTH) throw mismatch("A field is too long to be checked.");
  }

  #close(): void {
    const { kind, code = "" } = this.groups.pop() ?? {};
    if (kind === "fldinst") checkFieldCode(code, this.#nest);
    if (kind === "template" && !isLocalPath(code.replaceAll("\\\\", "\\"))) {
      throw mismatch(`The template is loaded from ${code.slice(0, 100)}.`);
    }
  }

  #word(word: string, parameter: number): void {
    if (REFUSED.test(word)) throw mismatch(`The file holds an object or other data (\\${word}).`);
    const group = this.groups.at(-1);
    if (group !== undefined && (word === "fldinst" || word === "template")) group.kind = word;
    else if (group !== undefined && this.#isStarred) group.isSkipped = true;
    this.#isStarred = false;
    if (word === "uc") this.#unicodeSkip = parameter;
    if (word === "bin") this.#binary = Math.max(0, parameter || 0);
    if (word === "v" && parameter !== 0) this.#nest.warn("HIDDEN_TEXT", "there is hidden text.");
    if (word !== "u") return;
    this.#fallback = 0;
    this.#write(String.fromCharCode(parameter & 0xffff));
    this.#fallback = this.#unicodeSkip;
  }

  /** Reads text, and returns the rest that needs the next piece. */
  read(text: string, isLast: boolean): string {
    const end = isLast ? text.length : text.length - MAX_SIGNATURE_BYTES;
    let at = 0;
    while (at < end) {
      const skipped = Math.min(this.#binary, text.length - at);
      this.#binary -= skipped;
      at += skipped;
      TOKEN.lastIndex = at;
      const [whole = "", word, parameter, hex, symbol, brace, plain] = TOKEN.exec(text) ?? [];
      if (whole === "") break;
      at += whole.length;
      if (word !== undefined) this.#word(word.toLowerCase(), Number(parameter));
      else if (hex !== undefined) this.#write(String.fromCharCode(parseInt(hex, 16)));
      else if (symbol === "*") this.#isStarred = true;
      else if (symbol !== undefined) this.#write(/[\\{}]/.test(symbol) ? symbol : " ");
      else if (plain !== undefined) this.#write(plain.replaceAll(/[\r\n]/g, ""));
      else if (brace === "{") this.groups.push({ code: "", isSkipped: false });
      else if (brace === "}") this.#close();
      if (this.groups.length > MAX_DEPTH) throw mismatch("The RTF nests too deep to be checked.");
    }
    return text.slice(at);
  }
}

/** Checks an RTF: no objects, and no templates, fields and links that load something from elsewhere. */
export const checkRtf: Format = async (bytes, nest) => {
  const head = (await bytes.read(0, 128)).toString("latin1").trimStart();
  if (!head.startsWith("{\\rt")) throw mismatch("The contents do not match the extension .rtf.");
  const reader = new RtfReader(nest);
  let rest = "";
  for await (const piece of bytes.pieces()) {
    rest = reader.read(rest + piece.toString("latin1"), false);
    detectMalware(reader.text);
    detectPrograms(reader.text);
    reader.text = reader.text.slice(-MAX_SIGNATURE_BYTES);
  }
  reader.read(rest, true);
  detectMalware(reader.text);
  if (reader.groups.length > 0) nest.warn("DAMAGED_FILE", "the file is cut off or damaged.");
};
