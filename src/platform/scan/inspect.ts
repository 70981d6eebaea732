import { fileTypeFromBuffer } from "file-type";
import type { Extension } from "../../contract/file-types.ts";
import { endsAsArchive } from "./archive.ts";
import type { Bytes } from "./bytes.ts";
import { checkFilm } from "./formats/films.ts";
import { checkMail } from "./formats/mail.ts";
import { checkDocx, checkXlsx } from "./formats/office.ts";
import { checkPdf } from "./formats/pdf.ts";
import { checkGif, checkJpeg, checkPng } from "./formats/pictures.ts";
import { checkRtf } from "./formats/rtf.ts";
import { checkText } from "./formats/texts.ts";
import { checkZip } from "./formats/zip.ts";
import { type Format, mismatch, type Nest, newBudget } from "./nest.ts";
import {
  type Look,
  lookForMalware,
  lookForOthers,
  lookForPdf,
  lookForPrograms,
  lookThrough,
} from "./signatures.ts";

type Kind = {
  check: Format;
  /** What is looked for in the bytes as they are. */
  looks: readonly Look[];
  /** Content types that its first bytes may show; none where the check reads them itself. */
  magic?: readonly string[];
};

const BINARY = [lookForMalware, lookForPrograms, lookForOthers];
const MEDIA = [...BINARY, lookForPdf];
const PACKED = [lookForMalware, lookForPrograms];
const TEXT = [lookForMalware];

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

/** The content type that a file's first bytes show; undefined where they show none. */
const typeShown = async (bytes: Bytes): Promise<string | undefined> =>
  (await fileTypeFromBuffer(await bytes.read(0, HEAD_BYTES)))?.mime;

const checkMagic = async (bytes: Bytes, allowed: readonly string[]): Promise<void> => {
  const shown = await typeShown(bytes);
  if (shown === undefined || !allowed.includes(shown)) {
    throw mismatch("The file's contents are not what its name says.");
  }
};

const inspect: Nest["inspect"] = async (type, bytes, nest) => {
  if (bytes.size === 0) return;
  const { check, looks, magic } = KINDS[type];
  await lookThrough(bytes.pieces(), looks);
  if (magic !== undefined) await checkMagic(bytes, magic);
  if (looks.includes(lookForOthers) && (await endsAsArchive(bytes))) {
    throw mismatch("The file is also an archive.");
  }
  await check(bytes, nest);
};

/** Judges an upload by its bytes, and by those of everything in it. */
export const inspectUpload = (type: Extension, bytes: Bytes): Promise<void> =>
  inspect(type, bytes, { archives: 0, mails: 0, budget: newBudget(), inspect });
