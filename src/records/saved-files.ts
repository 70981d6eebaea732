import { z } from "zod";
import { Problem } from "../contract/errors.ts";
import { type Clock, DAY } from "../kit/clock.ts";
import { createSeal, type Seal } from "../kit/seal.ts";
import type { SavedFiles, SavedName } from "../mcp/results/saved-files.ts";
import { hashId, type Storage } from "./port.ts";

const KIND = { file: "SavedFile", part: "SavedPart" };

/** The purpose for which saved tables are sealed. */
export const SAVED_PURPOSE = "mcp/saved-files";

const LIFE_MS = DAY;
const MIB = 1024 * 1024;
/** The bytes of one record. */
const PART_BYTES = MIB / 4;

const File = z.object({ size: z.int(), parts: z.int() });

type Needs = { storage: () => Promise<Storage>; key: () => Promise<Buffer>; now: Clock };

/** Waits for an operation of the storage. @throws {Problem} `unavailable` in place of its failure */
const guarded = <T>(operation: Promise<T>): Promise<T> =>
  operation.catch((error: unknown) => {
    const message = "This server cannot use its own records now, in which saved tables lie.";
    throw new Problem("unavailable", message, { retryAfterSeconds: 1 }, error);
  });

/** Joins and divides a stream into parts of one size; the last one is shorter. */
async function* divide(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting = Buffer.alloc(0);
  for await (const chunk of bytes) {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.byteLength >= PART_BYTES) {
      yield waiting.subarray(0, PART_BYTES);
      waiting = waiting.subarray(PART_BYTES);
    }
  }
  if (waiting.byteLength > 0) yield waiting;
}

const idOf = ({ tenantId, owner, name }: SavedName): string =>
  hashId(JSON.stringify([tenantId, owner, name]));

/** Adds up the sizes of a tenant's files. */
const sumSizes = async (storage: Storage, tenant: string, { open }: Seal): Promise<number> => {
  const known = await guarded(storage.listByOwner(KIND.file, tenant));
  return known.reduce(
    (sum, { payload }) => sum + (File.safeParse(open(payload)).data?.size ?? 0),
    0,
  );
};

async function* readParts(
  storage: Storage,
  { open }: Seal,
  { id, parts }: { id: string; parts: number },
): AsyncGenerator<Uint8Array> {
  for (let number = 0; number < parts; number += 1) {
    const part = await guarded(storage.find(KIND.part, `${id}.${number}`));
    const text = part && open(part.payload);
    if (typeof text !== "string") throw new Problem("not_found", "The file has expired.");
    yield Buffer.from(text, "base64");
  }
}

const createExceeded = (maxBytes: number): Problem =>
  new Problem(
    "storage_quota_exceeded",
    `The tenant's saved tables would exceed ${Math.floor(maxBytes / MIB)} MiB. They are deleted after a day; RECEIVABLES_TENANT_FILE_MIB raises the limit.`,
  );

/**
 * Creates the saved files of a server whose platform is another one: sealed records, which all nodes read. The files of
 * one tenant may have `maxBytes` together.
 */
export const createSavedRecords = (
  { storage: openStorage, key, now }: Needs,
  maxBytes: number,
): SavedFiles => {
  const openSealed = async () => ({
    storage: await guarded(openStorage()),
    seal: createSeal(await key(), SAVED_PURPOSE),
  });
  return {
    async put(file, bytes) {
      const { storage, seal } = await openSealed();
      const [id, tenant] = [idOf(file), hashId(file.tenantId)];
      const rest = { grant_id: id, owner: tenant, consumed_at: null, expires_at: now() + LIFE_MS };
      const write = (kind: string, part: string, content: unknown) =>
        guarded(storage.upsert({ kind, id: part, payload: seal.seal(content), ...rest }));
      while ((await guarded(storage.purge())) > 0);
      const stored = await sumSizes(storage, tenant, seal);
      let [size, parts] = [0, 0];
      try {
        for await (const part of divide(bytes)) {
          size += part.byteLength;
          if (stored + size > maxBytes) throw createExceeded(maxBytes);
          await write(KIND.part, `${id}.${parts}`, part.toString("base64"));
          parts += 1;
        }
        await write(KIND.file, id, { size, parts });
      } catch (error) {
        await guarded(storage.removeByGrant(KIND.part, id));
        throw error;
      }
      return size;
    },
    async open(file) {
      const { storage, seal } = await openSealed();
      const id = idOf(file);
      const found = await guarded(storage.find(KIND.file, id));
      const { data } = File.safeParse(found && seal.open(found.payload));
      if (data === undefined) return undefined;
      return { size: data.size, bytes: readParts(storage, seal, { id, parts: data.parts }) };
    },
  };
};
