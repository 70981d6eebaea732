import type { Extension } from "../../contract/file-types.ts";
import type { Bytes } from "./bytes.ts";
import { Refusal } from "./port.ts";

const MIB = 1024 * 1024;
/** The largest number of bytes unpacked from one upload, over all nesting levels. */
const MAX_UNPACKED_BYTES = 512 * MIB;
/** The largest number of files in one upload, over all nesting levels. */
const MAX_FILES = 10_000;

/** Counts the bytes and files unpacked from one upload. @throws {Refusal} ARCHIVE_LIMIT */
export type Budget = { bytes(count: number): void; file(): void };

export const createBudget = (): Budget => {
  let bytes = 0;
  let files = 0;
  return {
    bytes(count) {
      bytes += count;
      if (bytes > MAX_UNPACKED_BYTES) {
        throw new Refusal("ARCHIVE_LIMIT", `The file unpacks to over ${MAX_UNPACKED_BYTES} bytes.`);
      }
    },
    file() {
      files += 1;
      if (files > MAX_FILES) {
        throw new Refusal("ARCHIVE_LIMIT", `The file holds over ${MAX_FILES} files.`);
      }
    },
  };
};

/** The nesting of the file that is checked, and the means to check the files in it. */
export type ScanContext = {
  /** The number of archives around the file. */
  archives: number;
  /** The number of e-mails around the file. */
  mails: number;
  budget: Budget;
  /** Checks a file whose name claims this type. @throws {Refusal} */
  inspect(type: Extension, bytes: Bytes, nest: ScanContext): Promise<void>;
};

/** Checks a file of one type. @throws {Refusal} for broken or active contents */
export type Format = (bytes: Bytes, nest: ScanContext) => Promise<void>;

export const mismatch = (message: string): Refusal => new Refusal("TYPE_MISMATCH", message);

export const createTypeRefusal = (): Refusal =>
  mismatch("The file's contents do not match the extension of its name.");

const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

/** Runs a parser and turns its errors into a refusal with this message; system errors pass through. */
export const parseOrRefuse = async <T>(message: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refusal || isSystemError(error)) throw error;
    throw mismatch(message);
  }
};
