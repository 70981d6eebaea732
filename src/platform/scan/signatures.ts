// oxlint-disable no-control-regex -- a signature is bytes
import { Refusal } from "./port.ts";

/** Searches text in Latin-1, one character per byte. @throws {Refusal} for a match */
export type Detector = (text: string) => void;

/** The longest match of any detector, and so the overlap between two pieces. */
export const MAX_SIGNATURE_BYTES = 128;

// In two halves, so that malware scanners do not report this source file.
const EICAR = ["X5O!P%@AP[4\\PZX54(P^)7CC)7}", "$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].join(
  "",
);

const MALWARE: readonly { name: string; text: string }[] = [
  { name: "EICAR test file", text: EICAR },
];

/** Creates the refusal of malware from the signature's name. */
export const createMalwareRefusal = (name: string): Refusal =>
  new Refusal("MALWARE_DETECTED", `The file holds malware: ${name}.`);

export const detectMalware: Detector = (text) => {
  const found = MALWARE.find((signature) => text.includes(signature.text));
  if (found !== undefined) throw createMalwareRefusal(found.name);
};

// Long enough that compressed data does not match by chance.
const PROGRAMS: readonly { name: string; pattern: RegExp }[] = [
  { name: "Windows", pattern: /PE\0\0(?:\x4c\x01|\x64\x86|\x64\xaa|[\xc0\xc2\xc4]\x01)/ },
  { name: "Windows", pattern: /This program (?:cannot|must) be run (?:in DOS mode|under)/ },
  { name: "Linux", pattern: /\x7fELF[\x01\x02][\x01\x02]\x01[\0-\x12]\0/ },
  { name: "macOS", pattern: /[\xce\xcf]\xfa\xed\xfe[\x07\x0c]\0\0[\0\x01]/ },
  { name: "Java", pattern: /\xca\xfe\xba\xbe\0[\0-\x03]\0[\x2d-\x4f]/ },
  { name: "macOS", pattern: /\xca\xfe\xba\xbe\0\0\0[\x01-\x05][\0\x01]\0\0[\x07\x0c]/ },
];

export const detectPrograms: Detector = (text) => {
  const found = PROGRAMS.find(({ pattern }) => pattern.test(text));
  if (found === undefined) return;
  throw new Refusal("TYPE_MISMATCH", `The file also holds a ${found.name} program.`);
};

const MARKUP =
  /<(?:[sS][cC][rR][iI][pP][tT]|[hH][tT][mM][lL]|[iI][fF][rR][aA][mM][eE]|!DOCTYPE html|!doctype html)[\s>/]|<\?php\s/;
const SCRIPT = /#!\/(?:usr\/(?:local\/)?)?bin\//;
const PACKED = /Rar!\x1a\x07[\0\x01]|7z\xbc\xaf\x27\x1c\0\x04/;

/** Detects web pages, scripts and archives inside pictures, films and PDFs (polyglot files). */
export const detectOtherTypes: Detector = (text) => {
  if (MARKUP.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also a web page.");
  if (SCRIPT.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also a script.");
  if (PACKED.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also an archive.");
};

const PDF = /%PDF-\d\.\d/;

/** Detects a PDF inside a picture or a film: PDF readers accept a header far behind the beginning. */
export const detectPdf: Detector = (text) => {
  if (PDF.test(text)) throw new Refusal("TYPE_MISMATCH", "The file is also a PDF.");
};

/** Yields each piece as text, preceded by the end of the piece before it, so that matches across pieces are found. */
export async function* readOverlapping(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ text: string; before: number }> {
  let end = "";
  for await (const piece of pieces) {
    const text =
      end + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1");
    yield { text, before: end.length };
    end = text.slice(-MAX_SIGNATURE_BYTES);
  }
}

export const runDetectors = async (
  pieces: AsyncIterable<Uint8Array>,
  looks: readonly Detector[],
): Promise<void> => {
  for await (const { text } of readOverlapping(pieces)) for (const look of looks) look(text);
};
