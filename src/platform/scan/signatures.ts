// oxlint-disable no-control-regex -- a signature is bytes
import { Refusal } from "./port.ts";

/** Looks through text, one byte a character; refuses what it finds. */
export type Look = (text: string) => void;

/** No signature is longer, so this much of one piece is looked at again with the next. */
export const LONGEST = 128;

// In two halves, or scanners would take this source for what it looks for.
const EICAR = ["X5O!P%@AP[4\\PZX54(P^)7CC)7}", "$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].join(
  "",
);

const MALWARE: readonly { name: string; text: string }[] = [
  { name: "EICAR test file", text: EICAR },
];

/** The verdict on malware; the name is that of the signature. */
export const infected = (name: string): Refusal =>
  new Refusal("MALWARE_DETECTED", `The file holds malware: ${name}.`);

export const lookForMalware: Look = (text) => {
  const found = MALWARE.find((signature) => text.includes(signature.text));
  if (found !== undefined) throw infected(found.name);
};

// Long enough that compressed data shows none of them by chance.
const PROGRAMS: readonly { name: string; pattern: RegExp }[] = [
  { name: "Windows", pattern: /PE\0\0(?:\x4c\x01|\x64\x86|\x64\xaa|[\xc0\xc2\xc4]\x01)/ },
  { name: "Windows", pattern: /This program (?:cannot|must) be run (?:in DOS mode|under)/ },
  { name: "Linux", pattern: /\x7fELF[\x01\x02][\x01\x02]\x01[\0-\x12]\0/ },
  { name: "macOS", pattern: /[\xce\xcf]\xfa\xed\xfe[\x07\x0c]\0\0[\0\x01]/ },
  { name: "Java", pattern: /\xca\xfe\xba\xbe\0[\0-\x03]\0[\x2d-\x4f]/ },
  { name: "macOS", pattern: /\xca\xfe\xba\xbe\0\0\0[\x01-\x05][\0\x01]\0\0[\x07\x0c]/ },
];

export const lookForPrograms: Look = (text) => {
  const found = PROGRAMS.find(({ pattern }) => pattern.test(text));
  if (found === undefined) return;
  throw new Refusal("TYPE_MISMATCH", `The file also holds a ${found.name} program.`);
};

const MARKUP =
  /<(?:[sS][cC][rR][iI][pP][tT]|[hH][tT][mM][lL]|[iI][fF][rR][aA][mM][eE]|!DOCTYPE html|!doctype html)[\s>/]|<\?php\s/;
const SCRIPT = /#!\/(?:usr\/(?:local\/)?)?bin\//;
const PACKED = /Rar!\x1a\x07[\0\x01]|7z\xbc\xaf\x27\x1c\0\x04/;

/** What has no place in a picture, a film or a PDF, and would make it two kinds of file at once. */
export const lookForOthers: Look = (text) => {
  if (MARKUP.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also a web page.");
  if (SCRIPT.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also a script.");
  if (PACKED.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also an archive.");
};

const PDF = /%PDF-\d\.\d/;

/** What readers of PDF would find in a picture or a film: they look for it well behind the beginning. */
export const lookForPdf: Look = (text) => {
  if (PDF.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also a PDF.");
};

/** Text with the end of what came before it, so that nothing is missed between two pieces. */
export async function* overlapping(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ text: string; before: number }> {
  let end = "";
  for await (const piece of pieces) {
    const text =
      end + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
    yield { text, before: end.length };
    end = text.slice(-LONGEST);
  }
}

export const lookThrough = async (
  pieces: AsyncIterable<Uint8Array>,
  looks: readonly Look[],
): Promise<void> => {
  for await (const { text } of overlapping(pieces)) for (const look of looks) look(text);
};
