import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";

/**
 * Refuses a name under which there is anything but a plain file: a link could lead to another file.
 *
 * @throws {Error} naming the path
 */
export const checkReplaceable = (path: string): void => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const kind = found.isSymbolicLink() ? "a symbolic link" : "not a plain file";
  throw new Error(`${path} is ${kind}, so it is not written. Remove it, or use another name.`);
};

/**
 * Writes a private file (mode 0600) and replaces a plain file of that name. The new file is renamed into place, so
 * links to a former file never lead to the new content, and no reader sees half a file.
 *
 * @throws {Error} where the name is a link or no plain file
 */
export const replacePrivateFile = (path: string, content: string): void => {
  checkReplaceable(path);
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, "wx", 0o600);
  try {
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};
