import { readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";

const OTHERS = 0o077;

/** Whether other users may read a file; false where there is none, and on Windows. */
export const isOpenToOthers = (path: string): boolean => {
  if (process.platform === "win32") return false;
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0;
};

/** Returns the text of a file with secrets. @throws if others may read it */
export const readPrivate = (path: string): string => {
  if (isOpenToOthers(path)) throw new Error("others may read it: chmod 600");
  return readFileSync(path, "utf8");
};

/** Returns a text that changes whenever the file does. */
export const readStamp = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mode, mtimeNs, ctimeNs }) => [ino, size, mode, mtimeNs, ctimeNs].join(" "),
    () => "none",
  );
