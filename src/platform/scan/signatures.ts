// oxlint-disable no-control-regex -- a signature is bytes
import { Refusal } from "./port.ts";
import { mismatch } from "./scan-context.ts";

/** Searches text in Latin-1, one character per byte. @throws {Refusal} for a match */
export type Detector = (text: string) => void;

/** The longest match of any detector, and so the overlap between two pieces. */
export const MAX_SIGNATURE_BYTES = 256;

// In two halves, so that malware scanners do not report this source file.
const EICAR = ["X5O!P%@AP[4\\PZX54(P^)7CC)7}", "$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].join(
  "",
);

/** Creates the refusal of malware from the signature's name. */
export const createMalwareRefusal = (name: string): Refusal =>
  new Refusal("MALWARE_DETECTED", `The file holds malware: ${name}.`);

export const detectMalware: Detector = (text) => {
  if (text.includes(EICAR)) throw createMalwareRefusal("EICAR test file");
};

// Long enough that compressed data does not match by chance.
const PROGRAMS: readonly { name: string; pattern: RegExp }[] = [
  { name: "Windows", pattern: /PE\0\0(?:\x4c\x01|\x64\x86|\x64\xaa|[\xc0\xc2\xc4]\x01)/ },
  { name: "Windows", pattern: /This program (?:cannot|must) be run (?:in DOS mode|under)/ },
  { name: "Linux", pattern: /\x7fELF[\x01\x02][\x01\x02]\x01[\0-\x12]\0/ },
  { name: "macOS", pattern: /[\xce\xcf]\xfa\xed\xfe[\x07\x0c]\0\0[\0\x01]/ },
  { name: "Java", pattern: /\xca\xfe\xba\xbe\0[\0-\x03]\0[\x2d-\x4f]/ },
  { name: "macOS", pattern: /\xca\xfe\xba\xbe\0\0\0[\x01-\x05][\0\x01]\0\0[\x07\x0c]/ },
  { name: "Windows shortcut", pattern: /L\0\0\0\x01\x14\x02\0\0\0\0\0\xc0\0\0\0\0\0\0F/ },
];

export const detectPrograms: Detector = (text) => {
  const found = PROGRAMS.find(({ pattern }) => pattern.test(text));
  if (found !== undefined) throw mismatch(`The file holds a program (${found.name}).`);
};

const MARKUP = /<(?:script|html|iframe|!doctype html)[\s>/]|<\?php\s/i;
const SCRIPT = /#!\/(?:usr\/(?:local\/)?)?bin\//;
const PACKED = /PK\x05\x06\0\0\0\0|Rar!\x1a\x07[\0\x01]|7z\xbc\xaf\x27\x1c\0\x04/;
// PDF readers accept a header far behind the beginning.
const PDF = /%PDF-\d\.\d/;

/** Detects web pages, scripts and archives in a file, which is then also one of those. */
export const detectMarkup: Detector = (text) => {
  if (MARKUP.test(text)) throw mismatch("The file is also a web page.");
  if (SCRIPT.test(text)) throw mismatch("The file is also a script.");
  if (PACKED.test(text)) throw mismatch("The file is also an archive.");
};

/** Detects the same and PDFs in a picture or film. */
export const detectOtherTypes: Detector = (text) => {
  detectMarkup(text);
  if (PDF.test(text)) throw mismatch("The file is also a PDF.");
};

const SCRIPTED =
  /<[\w-]{0,20}:?script[\s>/]|(?:java|vb)script:|[\s"'/]on[a-z]{3,20}\s{0,20}=|<!entity\s[^>]{1,100}\ssystem\s/i;
const LOADING =
  /<(?:iframe|frame|object|embed|form|base|applet|foreignobject)[\s>/]|<meta\s[^>]{0,200}refresh/i;

/** Returns a text without NUL: ASCII in UTF-16 then reads like ASCII. */
export const toNarrow = (text: string): string => text.replaceAll("\0", "");

/** Detects scripts in XML, which run when a browser opens it. */
export const detectScripts: Detector = (text) => {
  if (SCRIPTED.test(toNarrow(text))) throw mismatch("The file holds a script that browsers run.");
};

/** Detects a web page that runs scripts, sends data or loads other documents. */
export const detectActivePage: Detector = (text) => {
  detectScripts(text);
  if (LOADING.test(toNarrow(text))) throw mismatch("The file is a web page that loads others.");
};

// Names of the storages of a compound file (Word, Excel, Outlook up to 2003) are in UTF-16.
const COMPOUND: readonly (readonly [string, string])[] = [
  ["_VBA_PROJECT", "macros"],
  ["\u0001Ole10Native", "an embedded object"],
];
const wide = (text: string): string => Buffer.from(text, "utf16le").toString("latin1");
const ENCRYPTED = wide("EncryptedPackage");

/** Detects macros, embedded objects and encryption in a compound file. */
export const detectCompoundParts: Detector = (text) => {
  const found = COMPOUND.find(([name]) => text.includes(wide(name)));
  if (found !== undefined) throw mismatch(`The Office file holds ${found[1]}.`);
  if (text.includes(ENCRYPTED)) {
    const message = "The Office file is encrypted. Save it without a password.";
    throw new Refusal("ENCRYPTED_ARCHIVE", message);
  }
};

/** Runs detectors over the pieces, each preceded by the end of the piece before it. */
export const runDetectors = async (
  pieces: AsyncIterable<Buffer>,
  detectors: readonly Detector[],
): Promise<void> => {
  let end = "";
  for await (const piece of pieces) {
    const text = end + piece.toString("latin1");
    for (const detect of detectors) detect(text);
    end = text.slice(-MAX_SIGNATURE_BYTES);
  }
};
