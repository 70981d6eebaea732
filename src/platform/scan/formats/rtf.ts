import { RtfReader } from "../../formats/rtf-stream.ts";
import { isLocalPath } from "../links.ts";
import { type Format, mismatch, parseOrRefuse } from "../scan-context.ts";
import { detectMalware, detectPrograms, MAX_SIGNATURE_BYTES } from "../signatures.ts";
import { checkFieldCode } from "./fields.ts";

/** Control words that embed an object, or load data or another document. */
const REFUSED =
  /^(?:object|objdata|objemb|objlink|objautlink|objsub|objpub|objicemb|objhtml|objocx|objclass|objupdate|oleclsid|linkself|filetbl|nextfile|mmconnectstr|mmconnectstrdata|mmdatasource|mmheadersource|mmodsoudldata|mmodsosrc)$/;

/** Checks an RTF: no objects, and no templates, fields and links that load something from elsewhere. */
export const checkRtf: Format = async (bytes, nest) => {
  const head = (await bytes.read(0, 128)).toString("latin1").trimStart();
  if (!head.startsWith("{\\rt")) throw mismatch("The contents do not match the extension .rtf.");
  let seen = "";
  const reader = new RtfReader({
    collected: new Set(["fldinst", "template"]),
    text: (text) => {
      seen += text;
    },
    word(word, parameter) {
      if (REFUSED.test(word)) throw mismatch(`The file holds an object or data (\\${word}).`);
      if (word === "v" && parameter !== 0) nest.warn("HIDDEN_TEXT", "there is hidden text.");
    },
    group(word, text) {
      if (word === "fldinst") return checkFieldCode(text, nest);
      if (isLocalPath(text.replaceAll("\\\\", "\\"))) return;
      throw mismatch(`The template is loaded from ${text.slice(0, 100)}.`);
    },
  });
  await parseOrRefuse("The RTF nests too deep, or has a field that is too long.", async () => {
    for await (const piece of bytes.pieces()) {
      reader.read(piece.toString("latin1"));
      detectMalware(seen);
      detectPrograms(seen);
      seen = seen.slice(-MAX_SIGNATURE_BYTES);
    }
    reader.read("", true);
  });
  detectMalware(seen);
  if (!reader.isComplete) nest.warn("DAMAGED_FILE", "the file is cut off or damaged.");
};
