import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import type { Outgoing } from "../../../client/transfers.ts";
import { createFieldProblem, Problem } from "../../../contract/errors.ts";

/** An open file; the caller closes it. */
export type LocalFile = Outgoing & { close(): Promise<void> };

const refuse = (message: string) =>
  createFieldProblem("invalid_request", { field: "path", code: "format", message });

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

/** Resolves every link in a path; undefined for a path that leads nowhere. */
const resolveLinks = (path: string): Promise<string | undefined> =>
  realpath(path).catch(() => undefined);

const isLink = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;

// One message for every refusal, so that callers cannot find out which files exist elsewhere.
const outside = () => refuse("names no readable file in the folders that may be uploaded from");

/** O_NONBLOCK: opening a pipe does not wait for its writer. O_NOFOLLOW: a link made meanwhile fails. */
const openPlain = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw outside();
  });

// A hard link would make a file outside the folders readable under a path inside them.
const isPlainFile = (status: BigIntStats): boolean => status.isFile() && status.nlink === 1n;

const isUnchanged = (before: BigIntStats, after: BigIntStats): boolean =>
  before.size === after.size &&
  before.mtimeNs === after.mtimeNs &&
  before.ctimeNs === after.ctimeNs &&
  isPlainFile(after);

const changed = (): Problem =>
  new Problem("conflict", "The file changed while it was read. Upload it again once it is whole.");

/** Yields the file's bytes; the last piece only once the file is known to be unchanged. */
async function* readUnchanged(file: FileHandle, before: BigIntStats): AsyncGenerator<Uint8Array> {
  const size = Number(before.size);
  let last: Uint8Array | undefined;
  let count = 0;
  if (size > 0) {
    for await (const piece of file.createReadStream({ autoClose: false, end: size - 1 })) {
      if (last !== undefined) yield last;
      last = piece as Uint8Array;
      count += last.byteLength;
    }
  }
  if (count !== size || !isUnchanged(before, await file.stat({ bigint: true }))) throw changed();
  if (last !== undefined) yield last;
}

/**
 * Opens a file in one of the folders, to be read once. Refuses symbolic links, files with more than one
 * hard link, pipes and devices.
 *
 * @throws {Problem} invalid_request; the bytes throw conflict for a file that changes while it is read
 */
export const openLocalFile = async (
  path: string,
  folders: readonly string[],
): Promise<LocalFile> => {
  if (folders.length === 0) {
    throw refuse(
      "is refused: RECEIVABLES_UPLOAD_FOLDERS names no folder, or this server does not run on the host's own machine; send the content as text or base64",
    );
  }
  if (!isAbsolute(path)) throw refuse("must be absolute");
  const place = await resolveLinks(path);
  if (place === undefined || (await isLink(path))) throw outside();
  const roots = await Promise.all(folders.map(resolveLinks));
  if (!roots.some((root) => root !== undefined && isWithin(root, place))) throw outside();
  const file = await openPlain(place);
  try {
    const status = await file.stat({ bigint: true });
    // A folder on the way may have become a link since it was resolved.
    if (!isPlainFile(status) || (await resolveLinks(place)) !== place) throw outside();
    const bytes = readUnchanged(file, status);
    return { size: Number(status.size), bytes, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
};
