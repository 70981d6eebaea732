import { hash } from "node:crypto";

// Maximum length of an indexed key.
const MAX_KEY_LENGTH = 400;

/** Shortens a row's key by hashing, so that it fits an index. */
export const shortenKey = (key: string): string =>
  key.length <= MAX_KEY_LENGTH ? key : `sha256:${hash("sha256", key, "hex")}`;
