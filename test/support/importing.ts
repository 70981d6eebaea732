import { randomId } from "../../src/kit/ids.ts";
import { disputeTarget } from "../../src/platform/import/disputes.ts";
import { fieldsOf } from "../../src/platform/import/fields.ts";
import { readMap } from "../../src/platform/import/map.ts";
import { type Counts, type Format, type Reject, runImport } from "../../src/platform/import/run.ts";
import { DisputeValues } from "../../src/platform/import/disputes/values.ts";
import type { TestPlatform } from "./platform.ts";

type How = { map?: object; format?: Format; createConfiguration?: boolean; ended?: AbortSignal };

/** Bytes in pieces, as a file is read. */
export async function* pieces(text: string | Buffer, size = 64): AsyncGenerator<Buffer> {
  const all = Buffer.from(text);
  for (let from = 0; from < all.length; from += size) yield all.subarray(from, from + size);
}

/** Imports disputes and gives the counts and what was refused. */
export const importDisputes = async (
  { store, clock }: TestPlatform,
  tenantId: string,
  text: string | Buffer,
  { map, format = "csv", createConfiguration = false, ended }: How = {},
) => {
  const rejects: Reject[] = [];
  const ignored: string[] = [];
  const progress: Counts[] = [];
  const counts = await runImport({
    store,
    tenantId,
    target: disputeTarget({ tenantId, createConfiguration, clock, newId: randomId }),
    format,
    map: map === undefined ? undefined : readMap(JSON.stringify(map), fieldsOf(DisputeValues)),
    bytes: pieces(text, 4096),
    reject: async (more) => {
      rejects.push(...more);
    },
    progress: (sofar) => progress.push({ ...sofar }),
    ignored: (columns) => ignored.push(...columns),
    ended: ended ?? new AbortController().signal,
  });
  return { counts, rejects, ignored, progress };
};
