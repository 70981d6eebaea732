import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import type { Outgoing } from "../../client/transfers.ts";
import { badArguments } from "../answer/refusal.ts";

/** A file that is held open until it is closed. */
export type LocalFile = Outgoing & { close(): Promise<void> };

const refuse = (message: string) =>
  badArguments(`path ${message}.`, [{ field: "path", code: "format", message }]);

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

/** Where a path leads once every link in it is followed; undefined where it leads nowhere. */
const whereTo = (path: string): Promise<string | undefined> =>
  realpath(path).catch(() => undefined);

// Whether a file exists elsewhere is nobody's business, so it is refused in the same words.
const outside = () => refuse("names no readable file in the folders that may be uploaded from");

/** A pipe would wait for ever, so it is not waited for; a link that was put there meanwhile is not followed. */
const openPlain = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw outside();
  });

/** Opens a file in one of the folders, to be read once. Refuses whatever else a path may lead to. */
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
  const place = await whereTo(path);
  if (place === undefined) throw outside();
  const roots = await Promise.all(folders.map(whereTo));
  if (!roots.some((root) => root !== undefined && isWithin(root, place))) throw outside();
  const file = await openPlain(place);
  const status = await file.stat();
  // A folder on the way may have become a link since it was looked at.
  if (!status.isFile() || (await whereTo(place)) !== place) {
    await file.close();
    throw outside();
  }
  const bytes = file.createReadStream({ autoClose: false, end: Math.max(0, status.size - 1) });
  return { size: status.size, bytes, close: () => file.close() };
};
