import { fileTypeFromBuffer } from "file-type";
import type { Extension } from "../../contract/file-types.ts";
import { endsWithArchive } from "./archive.ts";
import type { Bytes } from "./bytes.ts";
import { checkFilm } from "./formats/films.ts";
import { checkMail } from "./formats/mail.ts";
import { checkDocx, checkXlsx } from "./formats/office.ts";
import { checkPdf } from "./formats/pdf.ts";
import { checkGif, checkJpeg, checkPng } from "./formats/pictures.ts";
import { checkRtf } from "./formats/rtf.ts";
import { checkText } from "./formats/texts.ts";
import { checkZip } from "./formats/zip.ts";
import {
  createBudget,
  createTypeRefusal,
  type Format,
  mismatch,
  type ScanContext,
} from "./scan-context.ts";
import {
  type Detector,
  detectMalware,
  detectOtherTypes,
  detectPdf,
  detectPrograms,
  runDetectors,
} from "./signatures.ts";

type Kind = {
  check: Format;
  /** Run over the raw bytes. */
  looks: readonly Detector[];
  /** Content types that the magic number may indicate; undefined: `check` reads the first bytes itself. */
  magic?: readonly string[];
};

const BINARY = [detectMalware, detectPrograms, detectOtherTypes];
const MEDIA = [...BINARY, detectPdf];
const PACKED = [detectMalware, detectPrograms];
const TEXT = [detectMalware];

const KINDS: Record<Extension, Kind> = {
  ".pdf": { check: checkPdf, looks: BINARY, magic: ["application/pdf"] },
  ".zip": { check: checkZip, looks: PACKED, magic: ["application/zip"] },
  ".eml": { check: checkMail, looks: TEXT },
  ".jpeg": { check: checkJpeg, looks: MEDIA, magic: ["image/jpeg"] },
  ".gif": { check: checkGif, looks: MEDIA, magic: ["image/gif"] },
  ".png": { check: checkPng, looks: MEDIA, magic: ["image/png", "image/apng"] },
  ".mov": { check: checkFilm, looks: MEDIA, magic: ["video/quicktime"] },
  ".mp4": { check: checkFilm, looks: MEDIA, magic: ["video/mp4", "video/x-m4v", "video/3gpp"] },
  ".docx": { check: checkDocx, looks: PACKED },
  ".xlsx": { check: checkXlsx, looks: PACKED },
  ".txt": { check: checkText, looks: TEXT },
  ".rtf": { check: checkRtf, looks: TEXT },
};

const HEAD_BYTES = 4096;

const checkMagic = async (bytes: Bytes, allowed: readonly string[]): Promise<void> => {
  const type = await fileTypeFromBuffer(await bytes.read(0, HEAD_BYTES));
  if (type === undefined || !allowed.includes(type.mime)) {
    throw createTypeRefusal();
  }
};

const inspect: ScanContext["inspect"] = async (type, bytes, nest) => {
  if (bytes.size === 0) return;
  const { check, looks, magic } = KINDS[type];
  await runDetectors(bytes.pieces(), looks);
  if (magic !== undefined) await checkMagic(bytes, magic);
  if (looks.includes(detectOtherTypes) && (await endsWithArchive(bytes))) {
    throw mismatch("The file is also an archive.");
  }
  await check(bytes, nest);
};

/** Checks an upload and every file that it contains. @throws {Refusal} */
export const inspectUpload = (type: Extension, bytes: Bytes): Promise<void> =>
  inspect(type, bytes, { archives: 0, mails: 0, budget: createBudget(), inspect });
