import { createHash } from "node:crypto";
import { open, opendir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { getCode } from "../../kit/error.ts";
import { randomToken } from "../../kit/ids.ts";
import { makeFolder } from "../../kit/make-folder.ts";
import { StoreUnavailable } from "../store/port.ts";
import { type FileStore, FileTooLarge, type KeptFile, parseKey, type Bytes } from "./port.ts";

const OUTAGES = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE", "ENFILE", "EACCES"]);

/** Runs a disk operation; a full or failing disk is an outage. */
const guardDisk = async <T>(act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw OUTAGES.has(getCode(error) ?? "") ? new StoreUnavailable(error) : error;
  }
};

const unlessMissing = async <T>(act: Promise<T>): Promise<T | undefined> => {
  try {
    return await act;
  } catch (error) {
    if (getCode(error) === "ENOENT") return undefined;
    throw error;
  }
};

// Some systems cannot flush a folder; there the file system decides how durable names are. A folder that is gone was
// removed with its last file.
const UNFLUSHABLE = new Set(["EISDIR", "EPERM", "EINVAL", "ENOTSUP", "ENOENT"]);

const flushFolder = async (path: string): Promise<void> => {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (!UNFLUSHABLE.has(getCode(error) ?? "")) throw error;
  }
};

/** Creates a function that flushes a folder. Calls before a flush has begun share it. */
const createFlush = () => {
  const last = new Map<string, { hasBegun: boolean; done: Promise<void> }>();
  return (path: string): Promise<void> => {
    const earlier = last.get(path);
    if (earlier?.hasBegun === false) return earlier.done;
    const begin = async (): Promise<void> => {
      // What was renamed after that flush had begun may not be safe by it.
      await earlier?.done.catch(() => {});
      flush.hasBegun = true;
      try {
        await flushFolder(path);
      } finally {
        if (last.get(path) === flush) last.delete(path);
      }
    };
    const flush = { hasBegun: false, done: Promise.resolve() };
    last.set(path, flush);
    flush.done = begin();
    return flush.done;
  };
};

const write = async (path: string, bytes: Bytes, maxBytes: number): Promise<KeptFile> => {
  const hash = createHash("sha256");
  let size = 0;
  await using file = await guardDisk(() => open(path, "wx", 0o600));
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new FileTooLarge(maxBytes);
    hash.update(chunk);
    await guardDisk(() => file.writeFile(chunk));
  }
  await guardDisk(() => file.sync());
  return { size, sha256: hash.digest("hex") };
};

async function* listFiles(
  folder: string,
  key: string,
): AsyncGenerator<{ key: string; path: string; at: number }> {
  const entries = await unlessMissing(opendir(folder));
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listFiles(path, `${key}/${entry.name}`);
    const found = entry.isFile() ? await unlessMissing(stat(path)) : undefined;
    if (found !== undefined) yield { key: `${key}/${entry.name}`, path, at: found.mtimeMs };
  }
}

// No key begins with a dot, so no key can name a draft.
const DRAFTS = ".drafts";

/** The number of times that a folder is made again which was removed meanwhile with its last file. */
const FOLDER_TRIES = 20;
/** A folder is gone, or was there and is gone. */
const REMOVED = new Set(["ENOENT", "EEXIST"]);

const moveTo = async (place: string, draft: string): Promise<void> => {
  for (let left = FOLDER_TRIES; ; left -= 1) {
    try {
      await makeFolder(dirname(place));
      await rename(draft, place);
      return;
    } catch (error) {
      if (!REMOVED.has(getCode(error) ?? "") || left === 0) throw error;
    }
  }
};

/** Creates a function that renames a draft to its key, and flushes every folder that may be new. */
const createKeep = (folder: string) => {
  const flush = createFlush();
  return async (draft: string, place: string): Promise<void> => {
    await moveTo(place, draft);
    for (let at = dirname(place); at.length >= folder.length; at = dirname(at)) {
      // Makes a name safe before the folder that holds it.
      await flush(at);
    }
  };
};

/** Files in a folder, one per key. A draft is written, flushed and renamed, so no key has an incomplete file. */
export const createDiskFiles = (path: string): FileStore => {
  const folder = resolve(path);
  const drafts = join(folder, DRAFTS);
  const keep = createKeep(folder);

  const pathOf = (key: string): string => join(folder, ...parseKey(key));

  return {
    async put(key, bytes, maxBytes) {
      const place = pathOf(key);
      const draft = join(drafts, randomToken());
      await guardDisk(() => makeFolder(drafts));
      try {
        const stored = await write(draft, bytes, maxBytes);
        await guardDisk(() => keep(draft, place));
        return stored;
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },

    async open(key, span) {
      const place = pathOf(key);
      const file = await guardDisk(() => unlessMissing(open(place, "r")));
      if (file === undefined) return undefined;
      const size = span === undefined ? (await file.stat()).size : span.to - span.from;
      const stream = file.createReadStream(span && { start: span.from, end: span.to - 1 });
      return { size, bytes: Readable.toWeb(stream) as ReadableStream<Uint8Array> };
    },

    async remove(key) {
      const place = pathOf(key);
      await guardDisk(() => rm(place, { force: true }));
      // Each export run has a folder of its own. One that has other files stays.
      await rmdir(dirname(place)).catch(() => {});
    },

    async *list(first) {
      for await (const { key, at } of listFiles(pathOf(first), first)) yield { key, at };
    },

    async discardUnfinished(before) {
      let count = 0;
      for await (const draft of listFiles(drafts, DRAFTS)) {
        if (draft.at > before) continue;
        await rm(draft.path, { force: true });
        count += 1;
      }
      return count;
    },
  };
};
