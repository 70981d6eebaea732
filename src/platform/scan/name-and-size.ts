import {
  type Extension,
  findExtension,
  FILE_TYPES,
  MAX_FILE_BYTES,
} from "../../contract/file-types.ts";
import { Refusal, type ScannedFile } from "./port.ts";

// Control characters, and bidirectional marks, with which a name can show a false extension.
const MISLEADING = /\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Returns the type of a name's extension. @throws {Refusal} TYPE_MISMATCH */
export const parseClaimedType = (name: string): Extension => {
  if (MISLEADING.test(name)) {
    throw new Refusal("TYPE_MISMATCH", "The file's name contains invisible characters.");
  }
  const extension = findExtension(name);
  if (extension !== undefined) return extension;
  const allowed = Object.keys(FILE_TYPES).join(" ");
  throw new Refusal("TYPE_MISMATCH", `A file's name must end in one of ${allowed}.`);
};

/** Checks a file's name and size, before its bytes are read. @throws {Refusal} */
export const checkNameAndSize = ({ fileName, size }: ScannedFile): Extension => {
  const extension = parseClaimedType(fileName);
  if (size === 0) throw new Refusal("EMPTY_FILE", "The file is empty.");
  if (size > MAX_FILE_BYTES) {
    throw new Refusal("TOO_LARGE", `A file may have ${MAX_FILE_BYTES} bytes at most.`);
  }
  return extension;
};
