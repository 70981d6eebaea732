import { type Extension, MAX_FILE_BYTES } from "../../src/contract/file-types.ts";
import { activeUploads } from "./uploads/active.ts";
import { archiveUploads } from "./uploads/archives.ts";
import { eicarUploads } from "./uploads/eicar.ts";
import { type HostileUpload, rejected, type Upload } from "./uploads/upload.ts";
import { polyglotUploads } from "./uploads/polyglots.ts";
import {
  docx,
  gif,
  jpeg,
  mail,
  mov,
  mp4,
  png,
  program,
  rtf,
  text,
  wholePdf,
  xlsx,
} from "./uploads/samples.ts";
import { zip } from "./uploads/zip.ts";

/** A small sound file of each kind. */
export const GOOD: Record<Extension, Buffer> = {
  ".pdf": wholePdf(),
  ".zip": zip([
    { name: "papers/", mode: 0o040755 },
    { name: "papers/note.txt", data: text() },
    { name: "papers/Note.PDF", data: wholePdf() },
    { name: "inner.zip", data: zip([{ name: "sheet.xlsx", data: xlsx() }]) },
  ]),
  ".eml": mail({ name: "note.pdf", data: wholePdf() }, { name: "logo.jpg", data: jpeg() }),
  ".jpeg": jpeg(),
  ".gif": gif(),
  ".png": png(),
  ".mov": mov(),
  ".mp4": mp4(),
  ".docx": docx(),
  ".xlsx": xlsx(),
  ".txt": text(),
  ".rtf": rtf(),
};

const EXTENSIONS = Object.keys(GOOD) as Extension[];

/** Files that must become Available. */
export const goodUploads: readonly Upload[] = EXTENSIONS.map((extension) => ({
  title: `a sound ${extension}`,
  fileName: `sample${extension}`,
  bytes: GOOD[extension],
}));

// A mail is plain text too, so under that name it is what it says.
const isAlsoSound = (claimed: Extension, real: Extension): boolean =>
  claimed === real || (claimed === ".txt" && real === ".eml");

const wrongMagic = EXTENSIONS.flatMap((claimed) => [
  rejected(`a program as ${claimed}`, `a${claimed}`, program()),
  ...EXTENSIONS.filter((real) => !isAlsoSound(claimed, real)).map((real) =>
    rejected(`${real} as ${claimed}`, `a${claimed}`, GOOD[real]),
  ),
]);

const cutOff = ([".zip", ".docx", ".xlsx"] as const).map((extension) =>
  rejected(
    `half of ${extension}`,
    `a${extension}`,
    GOOD[extension].subarray(0, GOOD[extension].length / 2),
  ),
);

const MISLEADING = [
  "a\r\nContent-Type: text/html\r\n\r\nb.pdf",
  "invoice\u202Efdp.txt",
  "a\0.pdf",
  "a\u2066b.pdf",
];

const misleading = MISLEADING.map((fileName) =>
  rejected(`the name ${JSON.stringify(fileName)}`, fileName, GOOD[".pdf"]),
);

const FORBIDDEN = ["a.exe", "a.jpg", "a.html", "a.svg", "a", "a.pdf.exe"];

const forbidden = FORBIDDEN.map((fileName) =>
  rejected(`the name ${fileName}`, fileName, GOOD[".pdf"]),
);

const empty = EXTENSIONS.map((extension) =>
  rejected(`an empty ${extension}`, `a${extension}`, Buffer.alloc(0), "EMPTY_FILE"),
);

/**
 * Files that must never become Available, with the expected outcome. Some have names that are refused before the
 * upload.
 */
export const hostileUploads: readonly HostileUpload[] = [
  ...eicarUploads,
  ...polyglotUploads,
  ...archiveUploads,
  ...activeUploads,
  ...wrongMagic,
  ...cutOff,
  ...misleading,
  ...forbidden,
  ...empty,
];

/** One byte more than may be sent, never whole in memory. */
export const tooLarge = {
  fileName: "large.txt",
  size: MAX_FILE_BYTES + 1,
  open: (): ReadableStream<Uint8Array> => {
    const piece = new Uint8Array(64 * 1024).fill(0x61);
    let left = MAX_FILE_BYTES + 1;
    return new ReadableStream({
      pull(controller) {
        controller.enqueue(piece.slice(0, Math.min(left, piece.byteLength)));
        left -= Math.min(left, piece.byteLength);
        if (left === 0) controller.close();
      },
    });
  },
};
