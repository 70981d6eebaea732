import { mismatch } from "../nest.ts";
import { Refusal } from "../port.ts";

const PRINT = "Print it to a new PDF, and attach that.";
const SCRIPT = `The PDF runs scripts. ${PRINT}`;
const PROGRAM = `The PDF starts programs or opens other files. ${PRINT}`;
const MEDIA = `The PDF plays media that run programs of their own. ${PRINT}`;
const ATTACHED = "The PDF carries other files. Attach those by themselves.";
const FORM = `The PDF is a form that computes or sends data. ${PRINT}`;

/** Names that make a PDF more than a document to read, each with the reason for its refusal. */
const REFUSED = new Map<string, string>([
  ["JavaScript", SCRIPT],
  ["JS", SCRIPT],
  ["Launch", PROGRAM],
  ["GoToE", PROGRAM],
  ["Rendition", MEDIA],
  ["RichMedia", MEDIA],
  ["RichMediaContent", MEDIA],
  ["RichMediaSettings", MEDIA],
  ["RichMediaExecute", MEDIA],
  ["EmbeddedFile", ATTACHED],
  ["EmbeddedFiles", ATTACHED],
  ["FileAttachment", ATTACHED],
  ["EF", ATTACHED],
  ["XFA", FORM],
  ["SubmitForm", FORM],
  ["ImportData", FORM],
]);

/** Resolves the `#xx` escapes of a name. */
export const decodeName = (name: string): string =>
  name.replaceAll(/#([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

/** The refusal of a PDF that only the holder of a password, or of a certificate, can read. */
export const encrypted = (): Refusal =>
  new Refusal(
    "ENCRYPTED_ARCHIVE",
    "The PDF is encrypted. Save it without a password, and attach that.",
  );

/** The refusal that a name stands for; undefined for a harmless one. */
export const refusalOf = (name: string): Refusal | undefined => {
  if (name === "Encrypt") return encrypted();
  const message = REFUSED.get(name);
  return message === undefined ? undefined : mismatch(message);
};

const NAME = /\/((?:[A-Za-z0-9]|#[0-9a-fA-F]{2})+)/g;
// Shorter names occur by chance in compressed data.
const MIN_LENGTH_IN_DATA = 6;

/** Calls `use` with each name in a text, and with its place. */
export const eachName = (text: string, use: (name: string, at: number) => void): void => {
  for (const { 1: written = "", index } of text.matchAll(NAME)) use(decodeName(written), index);
};

/** Refuses a text with a refused name anywhere, in strings and comments too. */
export const checkText = (text: string): void =>
  eachName(text, (name) => {
    const refusal = refusalOf(name);
    if (refusal !== undefined) throw refusal;
  });

/** Like `checkText`, for bytes that may be compressed data. */
export const checkData = (text: string): void =>
  eachName(text, (name) => {
    const refusal = name.length < MIN_LENGTH_IN_DATA ? undefined : refusalOf(name);
    if (refusal !== undefined) throw refusal;
  });
