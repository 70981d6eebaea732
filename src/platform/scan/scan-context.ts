import type { Extension } from "../../contract/file-types.ts";
import type { Bytes } from "../../kit/bytes.ts";
import { FormatProblem } from "../formats/format-problem.ts";
import { type ArchiveEntry, readEntries } from "../formats/zip.ts";
import { Refusal, type WarningCode } from "./port.ts";

export const MIB = 1024 * 1024;
const MAX_UNPACKED_BYTES = 512 * MIB;
const MAX_PARTS = 20_000;
const MAX_ENTRIES = 1000;
const MAX_RATIO = 100;
/** Up to these sizes the compression ratio is not limited: Office files of repeated rows compress a lot. */
const FREE_BYTES = { archive: MIB, package: 8 * MIB };

export const createLimitRefusal = (message: string): Refusal =>
  new Refusal("ARCHIVE_LIMIT", message);

/** Creates the refusal of a type that is not the claimed one, or of dangerous contents. */
export const mismatch = (message: string): Refusal => new Refusal("TYPE_MISMATCH", message);

/** Counts what is unpacked from one upload, over all nesting levels. @throws {Refusal} ARCHIVE_LIMIT */
export type Budget = { bytes(count: number): void; part(): void; entry(): void };

/** Creates the budget of an upload of this size, in bytes. */
export const createBudget = (size: number): Budget => {
  const createCounter = (max: number, what: string) => {
    let total = 0;
    return (count = 1): void => {
      total += count;
      if (total <= max) return;
      throw createLimitRefusal(`The file holds more than ${max} ${what}, over all its archives.`);
    };
  };
  const maxBytes = Math.max(FREE_BYTES.package, size * MAX_RATIO);
  return {
    bytes: createCounter(Math.min(MAX_UNPACKED_BYTES, maxBytes), "unpacked bytes"),
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
export const deepen = (nest: ScanContext, kind: keyof ScanContext["depth"], max: number) => {
  const depth = { ...nest.depth, [kind]: nest.depth[kind] + 1 };
  if (depth[kind] > max) throw createLimitRefusal(`The file nests ${kind} over ${max} deep.`);
  return { ...nest, depth };
};

/** Runs a check of a part; its refusal and its warnings begin with the part's name. */
export const checkPart = async (
  name: string,
  nest: ScanContext,
  check: (nest: ScanContext) => Promise<void>,
): Promise<void> => {
  const label = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?").slice(0, 100);
  try {
    await check({ ...nest, warn: (code, message) => nest.warn(code, `${label}: ${message}`) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, `${label}: ${error.message}`);
  }
};

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
    if (error instanceof FormatProblem) throw new Refusal(CODES[error.kind], error.message);
    const isSystemError = error instanceof Error && "syscall" in error;
    throw error instanceof Refusal || isSystemError ? error : mismatch(message);
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
      freeBytes: FREE_BYTES[kind],
      countEntry: kind === "archive" ? budget.entry : budget.part,
      countBytes: budget.bytes,
    }),
  );
