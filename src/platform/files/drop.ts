import { toErrorFields, type Log } from "../../kit/log.ts";
import type { FileStore } from "./port.ts";

/** Removes files that no record refers to. After a failure the sweep removes them later. */
export const dropFiles = async (
  { files, log }: { files: FileStore; log: Log },
  keys: readonly string[],
): Promise<void> => {
  try {
    await Promise.all(keys.map((key) => files.remove(key)));
  } catch (error) {
    log.warn("files.not_removed", toErrorFields(error));
  }
};
