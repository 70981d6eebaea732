import {
  type Extension,
  findExtension,
  FILE_TYPES,
  MAX_FILE_BYTES,
} from "../../contract/file-types.ts";
import { Refusal, type ScannedFile } from "./port.ts";

// Control characters, and marks that turn the reading direction and so show another ending than there is.
const MISLEADING = /\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The type that a name claims; refuses a name that says none of the allowed, or not plainly. */
export const claimedType = (name: string): Extension => {
  if (MISLEADING.test(name)) {
    throw new Refusal("TYPE_MISMATCH", "The file's name holds characters that are not shown.");
  }
  const extension = findExtension(name);
  if (extension !== undefined) return extension;
  const allowed = Object.keys(FILE_TYPES).join(" ");
  throw new Refusal("TYPE_MISMATCH", `A file's name must end in one of ${allowed}.`);
};

/** What can be told of a file without its bytes. */
export const checkOutside = ({ fileName, size }: ScannedFile): Extension => {
  const extension = claimedType(fileName);
  if (size === 0) throw new Refusal("EMPTY_FILE", "The file is empty.");
  if (size > MAX_FILE_BYTES) {
    throw new Refusal("TOO_LARGE", `A file may have ${MAX_FILE_BYTES} bytes at most.`);
  }
  return extension;
};
