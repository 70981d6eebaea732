import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { Problem } from "../../contract/errors.ts";
import { getMessage } from "../../kit/error.ts";
import { openUnlinkedFile } from "../../kit/unlinked-file.ts";

/** Refuses a file of the command line that cannot be read. */
const refuseFile =
  (what: string, path: string) =>
  (error: unknown): never => {
    throw new Problem("not_found", `The ${what} ${path} cannot be read: ${getMessage(error)}`);
  };

/** Reads a text that the command line names; `what` says to a person which one. */
export const readTextFile = (what: string, path: string): Promise<string> =>
  readFile(path, "utf8").catch(refuseFile(what, path));

export type Input = {
  /** The name of the file without its folder; `stdin` for standard input. */
  name: string;
  /** Opens the input from its start with each call. */
  bytes: () => AsyncIterable<Uint8Array>;
  handle: FileHandle;
  /** Size in bytes; undefined for a pipe. */
  size: number | undefined;
  close(): Promise<void>;
};

const CHUNK_BYTES = 64 * 1024;

/** Reads an open file from its start; several readers may do so one after the other. */
async function* readFrom(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await handle.read({
      buffer: Buffer.allocUnsafe(CHUNK_BYTES),
      position,
    });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const openHandle = (name: string, handle: FileHandle, size: number | undefined): Input => ({
  name,
  bytes: () => readFrom(handle),
  handle,
  size,
  close: () => handle.close(),
});

/**
 * Spools a pipe to a temporary file, because files are read twice. The file has no name, so that what it contains does
 * not stay where the process is ended.
 */
const openPipe = async (source: Readable, name: string): Promise<Input> => {
  const handle = await openUnlinkedFile("receivables-import");
  try {
    await handle.writeFile(source);
    return openHandle(name, handle, undefined);
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/** Opens a file of the command line; `-` is standard input. */
export const openInput = async (file: string): Promise<Input> => {
  if (file === "-") return openPipe(process.stdin, "stdin");
  const name = basename(file);
  const handle = await open(file).catch(refuseFile("file", file));
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new Problem("invalid_request", `${file} is a folder.`);
  }
  if (!stat.isFile()) return openPipe(handle.createReadStream(), name);
  return openHandle(name, handle, stat.size);
};
