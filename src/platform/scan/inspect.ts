import { fileTypeFromBuffer } from "file-type";
import type { Extension } from "../../contract/file-types.ts";
import type { Bytes } from "../../kit/bytes.ts";
import { checkMail } from "./formats/mail.ts";
import { checkDocx, checkXlsx } from "./formats/office.ts";
import { checkPdf, detectHiddenActions } from "./formats/pdf.ts";
import { checkRtf } from "./formats/rtf.ts";
import { checkText } from "./formats/text.ts";
import { checkZip } from "./formats/zip.ts";
import type { Verdict, Warning } from "./port.ts";
import { createBudget, type Format, mismatch, type ScanContext } from "./scan-context.ts";
import {
  type Detector,
  detectMalware,
  detectOtherTypes,
  detectPrograms,
  runDetectors,
} from "./signatures.ts";

type Kind = {
  /** Run over the raw bytes. */
  detectors: readonly Detector[];
  check: Format;
};

const HEAD_BYTES = 4096;

const PACKED = [detectMalware, detectPrograms];
const TEXT = [detectMalware];
const ANY_PICTURE = /^image\//;

/** A picture or film: its type by content. Inside another file, pictures may be of any type. */
const media = (allowed: RegExp, allowedInside = allowed): Kind => ({
  detectors: [...PACKED, detectOtherTypes],
  async check(bytes, { depth }) {
    const mime = (await fileTypeFromBuffer(await bytes.read(0, HEAD_BYTES)))?.mime ?? "unknown";
    const isInside = depth.archives + depth.mails > 0;
    if ((isInside ? allowedInside : allowed).test(mime)) return;
    throw mismatch(`The contents (${mime}) do not match the extension of the name.`);
  },
});

const KINDS: Readonly<Record<Extension, Kind>> = {
  ".pdf": { detectors: [...PACKED, detectHiddenActions], check: checkPdf },
  ".zip": { detectors: PACKED, check: checkZip },
  ".eml": { detectors: TEXT, check: checkMail },
  ".jpeg": media(/^image\/jpeg$/, ANY_PICTURE),
  ".gif": media(/^image\/gif$/, ANY_PICTURE),
  ".png": media(/^image\/a?png$/, ANY_PICTURE),
  ".mov": media(/^video\/quicktime$/),
  ".mp4": media(/^video\/(?:mp4|x-m4v|3gpp)$/),
  ".docx": { detectors: PACKED, check: checkDocx },
  ".xlsx": { detectors: PACKED, check: checkXlsx },
  ".txt": { detectors: TEXT, check: checkText },
  ".rtf": { detectors: PACKED, check: checkRtf },
};

const inspect: ScanContext["inspect"] = async (type, bytes, nest) => {
  if (bytes.size === 0) return;
  const { check, detectors } = KINDS[type];
  await runDetectors(bytes.pieces(), detectors);
  await check(bytes, nest);
};

const MAX_WARNINGS = 20;

/** Checks an upload and every file that it contains. @throws {Refusal} */
export const inspectUpload = async (type: Extension, bytes: Bytes): Promise<Verdict> => {
  const found = new Map<string, Warning>();
  await inspect(type, bytes, {
    depth: { archives: 0, mails: 0, packages: 0 },
    budget: createBudget(bytes.size),
    warn: (code, message) => void found.set(code + message, { code, message }),
    inspect,
  });
  return { status: "Available", warnings: [...found.values()].slice(0, MAX_WARNINGS) };
};
