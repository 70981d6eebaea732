import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import type { FileStore } from "../../src/platform/files/port.ts";
import { StoreUnavailable } from "../../src/platform/store/port.ts";
import type { Life } from "./scheduler.ts";
import type { World } from "./world.ts";

async function* yieldOne(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/**
 * The real folder of files, one operation at a time. A process may end before, within and after a write; a write may
 * fail because the disk is full, and leaves its draft where the process has ended.
 */
export const createGatedFiles = (world: World, life: Life): FileStore => {
  const { scheduler } = world;
  const folder = join(world.folder, "files");
  const files = createDiskFiles(folder);
  const leaveDraft = (bytes: Buffer): void => {
    const drafts = join(folder, ".drafts");
    mkdirSync(drafts, { recursive: true });
    const path = join(drafts, world.newId());
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    const at = world.timeOf(life.name) / 1000;
    utimesSync(path, at, at);
  };
  const fail = (): void => {
    if (world.disk.isFull) throw new StoreUnavailable(new Error("ENOSPC: no space left on device"));
  };
  return {
    async put(key, stream, maxBytes) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      await scheduler.turn(life, "writes a file");
      if (life.endsAt === 1) leaveDraft(bytes);
      await scheduler.turn(life, "keeps a file");
      fail();
      const kept = await scheduler.work(() => files.put(key, yieldOne(bytes), maxBytes));
      world.disk.keptAt.set(key, world.timeOf(life.name));
      await scheduler.turn(life, "kept a file");
      return kept;
    },
    async open(key, span) {
      await scheduler.turn(life, "opens a file");
      const found = await scheduler.work(async () => {
        const file = await files.open(key, span);
        return file && { size: file.size, bytes: await buffer(file.bytes) };
      });
      if (found === undefined) return undefined;
      const bytes = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(found.bytes);
          controller.close();
        },
      });
      return { size: found.size, bytes };
    },
    async remove(key) {
      await scheduler.turn(life, "removes a file");
      fail();
      await scheduler.work(() => files.remove(key));
    },
    async *list(first) {
      await scheduler.turn(life, "lists files");
      const found = await scheduler.work(async () => {
        const keys: string[] = [];
        for await (const { key } of files.list(first)) keys.push(key);
        return keys.toSorted();
      });
      for (const key of found) {
        yield { key, at: world.disk.keptAt.get(key) ?? 0 };
      }
    },
    async discardUnfinished(before) {
      await scheduler.turn(life, "discards drafts");
      return scheduler.work(() => files.discardUnfinished(before));
    },
  };
};
