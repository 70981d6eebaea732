import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Writes a file that does not exist yet, for its owner alone: never through a link, and never over another file. */
export const writeNewFile = async (
  path: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for await (const chunk of bytes) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
};
