import { type Format, mismatch } from "../nest.ts";
import { LONGEST, lookForMalware, lookForPrograms } from "../signatures.ts";

const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const HEAD = "{\\rtf";
// An object of another program inside a text, and what lets it run by itself.
const OBJECT = /\\(?:obj(?:data|update|ocx|autlink|link)|ddeauto)(?![a-z])/;
const SPACE = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20, 0x1a]);

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

/** Counts the braces; tells the depth after each piece, and refuses what follows the last. */
const braces = (): ((piece: Buffer) => number) => {
  let depth = 0;
  let begun = false;
  let escaped = false;
  return (piece) => {
    for (const byte of piece) {
      if (begun && depth === 0 && !SPACE.has(byte))
        throw mismatch("Something follows the RTF's end.");
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === OPEN) {
        depth += 1;
        begun = true;
      } else if (byte === CLOSE) depth -= 1;
    }
    return depth;
  };
};

/** A whole RTF group, without objects of other programs in it. */
export const checkRtf: Format = async (bytes) => {
  const head = await bytes.read(0, HEAD.length);
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin like an RTF.");
  const depthAfter = braces();
  let depth = 0;
  let end = "";
  for await (const piece of bytes.pieces()) {
    depth = depthAfter(piece);
    const text = end + piece.toString("latin1");
    if (OBJECT.test(text.replaceAll(/[\r\n]/g, ""))) {
      throw mismatch("The RTF holds an object of another program.");
    }
    for (const view of [shown(text), digitsIn(text)]) {
      lookForMalware(view);
      lookForPrograms(view);
    }
    // An escape takes four characters for one, and line ends may stand between.
    end = text.slice(-LONGEST * 8);
  }
  if (depth !== 0) throw mismatch("The RTF is cut off or broken.");
};
