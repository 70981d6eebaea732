import { readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { z } from "zod";
import { Problem } from "../contract/errors.ts";
import { getMessage } from "../kit/error.ts";
import { parsePrivateJson } from "../kit/json.ts";

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

/** Reads a file with secrets that a setting names. @throws {Problem} with the faults that `parse` throws */
export const readSetFile = <T>(setting: string, path: string, parse: (text: string) => T): T => {
  try {
    return parse(readPrivate(path));
  } catch (error) {
    throw new Problem("invalid_request", `${setting} ${path}: ${getMessage(error)}`, {}, error);
  }
};

/** Parses JSON with secrets by its schema. @throws {Error} with every fault, without any value of the text */
export const parsePrivate = <S extends z.ZodType>(schema: S, text: string): z.output<S> => {
  const { data, error } = schema.safeParse(parsePrivateJson(text));
  if (error === undefined) return data;
  const faults = error.issues.map(
    ({ path, message }) => `${path.map(String).join(".")} ${message}`,
  );
  throw new Error(faults.join("; "));
};

/** Returns a function that returns what was read first, and reads again after the file has changed. */
export const followFile = async <T>(
  path: string,
  readFirst: () => T,
  readAgain: () => T,
): Promise<() => Promise<T>> => {
  let stamp = await readStamp(path);
  let value = readFirst();
  return async () => {
    const now = await readStamp(path);
    if (now !== stamp) {
      value = readAgain();
      stamp = now;
    }
    return value;
  };
};

/** Returns a text that changes whenever the file does. */
export const readStamp = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ ino, size, mode, mtimeNs, ctimeNs }) => [ino, size, mode, mtimeNs, ctimeNs].join(" "),
    () => "none",
  );
