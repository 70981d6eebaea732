import type { Extension } from "../../contract/file-types.ts";
import type { Bytes } from "./bytes.ts";
import { Refusal } from "./port.ts";

const MIB = 1024 * 1024;
/** What may be unpacked of one upload in all, however deep it lies. */
const MAX_UNPACKED_BYTES = 512 * MIB;
/** How many files one upload may hold in all. */
const MAX_FILES = 10_000;

/** What is unpacked of one upload is counted here. */
export type Budget = { bytes(count: number): void; file(): void };

export const newBudget = (): Budget => {
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

/** Where a file lies: how many archives and mails are around it, and the check for the files in it. */
export type Nest = {
  archives: number;
  mails: number;
  budget: Budget;
  /** Judges a file of the type that its name claims. */
  inspect(type: Extension, bytes: Bytes, nest: Nest): Promise<void>;
};

/** How one kind of file is looked into; it refuses what is not sound. */
export type Format = (bytes: Bytes, nest: Nest) => Promise<void>;

export const mismatch = (message: string): Refusal => new Refusal("TYPE_MISMATCH", message);

const isOfTheSystem = (error: unknown): boolean => error instanceof Error && "syscall" in error;

/** What a library says of a file is a refusal of it, but for what the system could not do. */
export const soundOr = async <T>(message: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Refusal || isOfTheSystem(error)) throw error;
    throw mismatch(message);
  }
};
