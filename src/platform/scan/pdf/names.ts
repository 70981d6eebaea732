import { mismatch } from "../scan-context.ts";
import { Refusal } from "../port.ts";

const PRINT = "Print it to a new PDF and attach that one.";
const SCRIPT = `The PDF runs scripts. ${PRINT}`;
const PROGRAM = `The PDF starts programs or opens other files. ${PRINT}`;
const MEDIA = `The PDF embeds media that can run programs. ${PRINT}`;
const ATTACHED =
  "The PDF has attached files other than the XML of an invoice. Attach each of them as a file of its own.";
const FORM = `The PDF is a form that computes or sends data. ${PRINT}`;

/** Names of active features, each with the message of its refusal. */
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
  ["FileAttachment", ATTACHED],
  ["Collection", ATTACHED],
  ["RF", ATTACHED],
  ["XFA", FORM],
  ["SubmitForm", FORM],
  ["ImportData", FORM],
]);

/** Resolves the `#xx` escapes of a name. */
export const decodeName = (name: string): string =>
  name.replaceAll(/#([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

/** Creates the refusal of a PDF that requires a password or certificate. */
export const createEncryptedRefusal = (): Refusal =>
  new Refusal(
    "ENCRYPTED_ARCHIVE",
    "The PDF is encrypted. Save it without a password, and attach that.",
  );

export const createAttachedRefusal = (): Refusal => mismatch(ATTACHED);

/** Returns the refusal of an active feature's name, undefined for other names. */
export const findRefusal = (name: string): Refusal | undefined => {
  if (name === "Encrypt") return createEncryptedRefusal();
  const message = REFUSED.get(name);
  return message === undefined ? undefined : mismatch(message);
};

const NAME = /\/((?:[A-Za-z0-9]|#[0-9a-fA-F]{2})+)/g;
const MIN_LENGTH_IN_DATA = 6;

/** Calls `use` with each name in a text and its position. */
export const forEachName = (text: string, use: (name: string, at: number) => void): void => {
  for (const { 1: written = "", index } of text.matchAll(NAME)) use(decodeName(written), index);
};

const FILES = "EF";
const VALUE = /[\s\0]*[<%\d]/y;

/** Counts the places below `end` where a text may hold the key of an attached file. */
export const countFileKeys = (text: string, end = Infinity): number => {
  let count = 0;
  for (const { 0: whole, 1: written = "", index } of text.matchAll(NAME)) {
    VALUE.lastIndex = index + whole.length;
    // Elsewhere the name occurs by chance in compressed data.
    if (index < end && decodeName(written) === FILES && VALUE.test(text)) count += 1;
  }
  return count;
};

/** Refuses text that contains a refused name anywhere, also in strings and comments. */
export const checkText = (text: string, minLength = 1): void =>
  forEachName(text, (name) => {
    const refusal = name.length < minLength ? undefined : findRefusal(name);
    if (refusal !== undefined) throw refusal;
  });

/** Refuses bytes that contain a refused name, unless it is so short that compressed data has it by chance. */
export const checkData = (text: string): void => checkText(text, MIN_LENGTH_IN_DATA);
