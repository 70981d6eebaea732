import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const FOLDERS = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/bin"];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Returns the path of a program under one of its names; undefined where this machine has none. */
export const findProgram = (...names: string[]): string | undefined =>
  FOLDERS.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
