import { createHash } from "node:crypto";

// An index holds no longer ones.
const LONGEST = 400;

/** What names a row, short enough for an index. */
export const boundedKey = (key: string): string =>
  key.length <= LONGEST ? key : `sha256:${createHash("sha256").update(key).digest("hex")}`;
