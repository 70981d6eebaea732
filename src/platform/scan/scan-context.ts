import type { Extension } from "../../contract/file-types.ts";
import type { Bytes } from "../../kit/bytes.ts";
import { type ArchiveEntry, ArchiveProblem, readEntries } from "../../kit/zip.ts";
import { PdfProblem } from "../../kit/pdf-objects.ts";
import { Refusal, type WarningCode } from "./port.ts";

export const MIB = 1024 * 1024;
/** The largest number of bytes unpacked from one upload, over all nesting levels. */
const MAX_UNPACKED_BYTES = 512 * MIB;
/** The largest number of parts of one upload, over all nesting levels, and of files in its archives. */
const MAX_PARTS = 20_000;
const MAX_ENTRIES = 1000;
const MAX_RATIO = 100;
/** Up to this size the compression ratio is not limited: repeated text compresses a lot. */
const ALWAYS_ALLOWED_BYTES = 8 * MIB;

export const createLimitRefusal = (message: string): Refusal =>
  new Refusal("ARCHIVE_LIMIT", message);

/** Counts what is unpacked from one upload. @throws {Refusal} ARCHIVE_LIMIT */
export type Budget = { bytes(count: number): void; part(): void; entry(): void };

/** Creates the budget of an upload of this size, in bytes. */
export const createBudget = (size: number): Budget => {
  const maxBytes = Math.min(MAX_UNPACKED_BYTES, Math.max(ALWAYS_ALLOWED_BYTES, size * MAX_RATIO));
  const createCounter = (max: number, what: string) => {
    let total = 0;
    return (count = 1): void => {
      total += count;
      if (total > max) {
        throw createLimitRefusal(`The file holds more than ${max} ${what}, over all its archives.`);
      }
    };
  };
  return {
    bytes: createCounter(maxBytes, "unpacked bytes"),
    part: createCounter(MAX_PARTS, "parts"),
    entry: createCounter(MAX_ENTRIES, "files"),
  };
};

/** The nesting of the file that is checked, and the means to check the files in it. */
export type ScanContext = {
  /** The number of archives, e-mails and Office files around the file. */
  depth: { archives: number; mails: number; packages: number };
  budget: Budget;
  warn(code: WarningCode, message: string): void;
  /** Checks a file whose name claims this type. @throws {Refusal} */
  inspect(type: Extension, bytes: Bytes, nest: ScanContext): Promise<void>;
};

/** Checks a file of one type. @throws {Refusal} for dangerous contents */
export type Format = (bytes: Bytes, nest: ScanContext) => Promise<void>;

/** Returns the context of a file one level deeper. @throws {Refusal} ARCHIVE_LIMIT */
export const deepen = (
  nest: ScanContext,
  kind: keyof ScanContext["depth"],
  max: number,
): ScanContext => {
  const depth = { ...nest.depth, [kind]: nest.depth[kind] + 1 };
  if (depth[kind] > max) {
    const names = { archives: "Archives", mails: "E-mails", packages: "Office files" };
    throw createLimitRefusal(`${names[kind]} may be nested ${max} deep at most.`);
  }
  return { ...nest, depth };
};

const MAX_LABEL_LENGTH = 100;

const toLabel = (name: string): string =>
  name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?").slice(0, MAX_LABEL_LENGTH) || "a file without name";

/** Runs a check of a part; its refusal and its warnings begin with the part's name. */
export const checkPart = async (
  name: string,
  nest: ScanContext,
  check: (nest: ScanContext) => Promise<void>,
): Promise<void> => {
  const label = toLabel(name);
  try {
    await check({ ...nest, warn: (code, message) => nest.warn(code, `${label}: ${message}`) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, `${label}: ${error.message}`);
  }
};

/** Creates the refusal of a type that is not the claimed one, or of dangerous contents. */
export const mismatch = (message: string): Refusal => new Refusal("TYPE_MISMATCH", message);

const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;
const CODES = {
  broken: "TYPE_MISMATCH",
  encrypted: "ENCRYPTED_ARCHIVE",
  limit: "ARCHIVE_LIMIT",
} as const;

/** Runs a parser and turns its errors into a refusal with this message; system errors pass through. */
export const parseOrRefuse = async <T>(message: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ArchiveProblem || error instanceof PdfProblem) {
      throw new Refusal(CODES[error.kind], error.message);
    }
    throw error instanceof Refusal || isSystemError(error) ? error : mismatch(message);
  }
};

/** Returns the entries of an archive or Office file, with its limits. @throws {Refusal} */
export const readArchive = (
  bytes: Bytes,
  { budget }: ScanContext,
  kind: "archive" | "package",
): Promise<ArchiveEntry[]> =>
  parseOrRefuse("The archive is broken.", () =>
    readEntries(bytes, {
      maxRatio: MAX_RATIO,
      // Office files of repeated rows compress a lot.
      freeBytes: kind === "archive" ? MIB : 8 * MIB,
      countEntry: kind === "archive" ? budget.entry : budget.part,
      countBytes: budget.bytes,
    }),
  );
