import type { FailureCode } from "../../../src/platform/scan/port.ts";
import { docx, mail, program, text } from "./samples.ts";
import { type HostileUpload, rejected } from "./upload.ts";
import { zip } from "./zip.ts";

const ENCRYPTED = 1;
const MIB = 1024 * 1024;

const note = { name: "a.txt", data: text() };
const bomb = zip([{ name: "a.txt", data: Buffer.alloc(16 * MIB, 0x61) }]);
const liar = zip([{ name: "a.txt", data: Buffer.alloc(16 * MIB, 0x61), claimedSize: 100 }]);
const many = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ ...note, name: `${at}.txt` }));
const named = (name: string): Buffer => zip([{ ...note, name }]);

const nested = (depth: number): Buffer =>
  depth === 0 ? text() : zip([{ name: depth === 1 ? "a.txt" : "a.zip", data: nested(depth - 1) }]);

const compound = Buffer.concat([
  Buffer.from("d0cf11e0a1b11ae1", "hex"),
  Buffer.alloc(1016),
  Buffer.from("EncryptedPackage", "utf16le"),
  Buffer.alloc(512),
]);

// The second entry's data is the first one's, so that a small file unpacks to much.
const overlapping = zip([note, { ...note, name: "b.txt", claimedAt: 0 }]);

const KINDS: readonly [string, string, Buffer, FailureCode][] = [
  ["a ZIP bomb", "a.zip", bomb, "ARCHIVE_LIMIT"],
  ["a ZIP bomb in a ZIP", "a.zip", zip([{ name: "b.zip", data: bomb }]), "ARCHIVE_LIMIT"],
  ["a ZIP bomb that lies of its size", "a.zip", liar, "TYPE_MISMATCH"],
  ["a ZIP bomb with a mail", "a.eml", mail({ name: "b.zip", data: bomb }), "ARCHIVE_LIMIT"],
  [
    "a DOCX that is a bomb",
    "a.docx",
    docx([{ name: "word/a.xml", data: Buffer.alloc(16 * MIB) }]),
    "ARCHIVE_LIMIT",
  ],
  [
    "a ZIP of many small bombs",
    "a.zip",
    zip(many(200).map((entry) => ({ ...entry, data: Buffer.alloc(MIB, 0x61) }))),
    "ARCHIVE_LIMIT",
  ],
  ["a ZIP three deep", "a.zip", nested(3), "ARCHIVE_LIMIT"],
  ["a ZIP of 1,001 files", "a.zip", zip(many(1001)), "ARCHIVE_LIMIT"],
  ["a ZIP whose name climbs", "a.zip", named("../../etc/cron.d/a.txt"), "ARCHIVE_LIMIT"],
  ["a ZIP whose name climbs back", "a.zip", named("a/../../b.txt"), "ARCHIVE_LIMIT"],
  ["a ZIP with an absolute name", "a.zip", named("/etc/a.txt"), "ARCHIVE_LIMIT"],
  ["a ZIP with a name of a drive", "a.zip", named("C:/a.txt"), "ARCHIVE_LIMIT"],
  ["a ZIP whose name climbs the Windows way", "a.zip", named("..\\..\\a.txt"), "ARCHIVE_LIMIT"],
  ["a ZIP with NUL in a name", "a.zip", named("a.exe\0.txt"), "TYPE_MISMATCH"],
  ["a ZIP with a name that turns around", "a.zip", named("a\u202Ecod.txt"), "TYPE_MISMATCH"],
  [
    "a ZIP with a link",
    "a.zip",
    zip([{ name: "a.txt", data: "/etc/passwd", mode: 0o120777 }]),
    "ARCHIVE_LIMIT",
  ],
  ["a ZIP with a device", "a.zip", zip([{ ...note, mode: 0o060644 }]), "ARCHIVE_LIMIT"],
  ["a ZIP with a password", "a.zip", zip([{ ...note, flags: ENCRYPTED }]), "ENCRYPTED_ARCHIVE"],
  [
    "a ZIP with a strong password",
    "a.zip",
    zip([{ ...note, flags: ENCRYPTED, method: 99 }]),
    "ENCRYPTED_ARCHIVE",
  ],
  [
    "a ZIP with a strong password that says of none",
    "a.zip",
    zip([{ ...note, method: 99 }]),
    "ENCRYPTED_ARCHIVE",
  ],
  [
    "a ZIP with a password in a ZIP",
    "a.zip",
    zip([{ name: "b.zip", data: zip([{ ...note, flags: ENCRYPTED }]) }]),
    "ENCRYPTED_ARCHIVE",
  ],
  ["an XLSX with a password", "a.xlsx", compound, "ENCRYPTED_ARCHIVE"],
  ["a ZIP with a program", "a.zip", zip([{ name: "a.exe", data: program() }]), "TYPE_MISMATCH"],
  [
    "a ZIP with a program under another name",
    "a.zip",
    zip([{ name: "a.pdf", data: program() }]),
    "TYPE_MISMATCH",
  ],
  ["a ZIP whose files overlap", "a.zip", overlapping, "TYPE_MISMATCH"],
  [
    "a ZIP whose file runs into the index",
    "a.zip",
    zip([{ ...note, claimedPackedSize: 100 }]),
    "TYPE_MISMATCH",
  ],
  ["a mail with mails six deep in it", "a.eml", letters(5), "ARCHIVE_LIMIT"],
  [
    "a ZIP with two names of a file",
    "a.zip",
    zip([{ ...note, localName: "b.exe" }]),
    "TYPE_MISMATCH",
  ],
  [
    "a ZIP that promises more than it has",
    "a.zip",
    zip([{ ...note, claimedSize: 5000 }]),
    "TYPE_MISMATCH",
  ],
];

function letters(depth: number): Buffer {
  return mail(
    depth === 0 ? { name: "a.txt", data: text() } : { name: "a.eml", data: letters(depth - 1) },
  );
}

export const archiveUploads: readonly HostileUpload[] = KINDS.map((kind) => rejected(...kind));
