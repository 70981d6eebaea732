import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { formatTimestamp } from "../../src/kit/clock.ts";
import { compressRows } from "../../src/platform/store/engine/row-frame.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { findChunks, findLastCompleted } from "../../src/platform/store/queries/export-runs.ts";
import type { ExportRunRow } from "../../src/platform/store/tables/schema.ts";
import { inFolder } from "../folder.ts";
import { type Benchmark, interleaved, wallMs } from "../measure.ts";
import { type Bench, openLedgers } from "./ledger.ts";
import { fillPayments } from "./payment-rows.ts";

const ROWS = Number(process.env["BENCH_ROWS"] ?? 100_000);
/** As many as a page may have. */
const PAGE_ROWS = Math.min(ROWS, 100_000);
const BASE = "/api/v1/remittance-export";
const inflate = promisify(zstdDecompress);
// As the platform does it: in the small pieces of the default it takes twice as long.
const decompress = (bytes: Buffer): Promise<Buffer> => inflate(bytes, { chunkSize: 8 * 1024 ** 2 });

type Exports = Bench & { run(): Promise<ExportRunRow>; ask(path: string): Promise<Response> };

/** A tenant with payments, and a way to run an export of all of them. */
const open = async (): Promise<Exports> => {
  const bench = await openLedgers([1]);
  const [{ tenantId, ingestKey }] = bench.ledgers;
  await fillPayments(bench.store, tenantId, ROWS);
  const send = async (method: string, path: string, body?: object): Promise<Response> =>
    bench.platform.fetch(
      new Request(`http://bench.test${BASE}${path}`, {
        method,
        headers: { "X-API-Key": ingestKey, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  return {
    ...bench,
    ask: (path) => send("GET", path),
    async run() {
      const filters = { currencyCode: { eq: "USD" } };
      const firstRunAt = formatTimestamp(Date.now());
      const body = { source: "cashapp", intervalMs: 300_000, firstRunAt, filters };
      const made = (await (await send("POST", "/schedules", body)).json()) as { id: string };
      await bench.platform.worker.runDue();
      const run = await findLastCompleted(bench.store.read, tenantId, made.id);
      await send("DELETE", `/schedules/${made.id}`);
      if (run?.row_count !== ROWS) throw new Error("the run has not completed");
      return run;
    },
  };
};

const chunksOf = async (
  { store, files }: Exports,
  run: ExportRunRow,
  to: number,
): Promise<Buffer[]> => {
  const chunks = await findChunks(store.read, run, { from: 0, to });
  return Promise.all(
    chunks.map(async ({ file_key }) => {
      const file = await files.open(file_key);
      if (file === undefined) throw new Error("a chunk is lost");
      return buffer(file.bytes);
    }),
  );
};

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

export const exportBenchmarks: readonly Benchmark[] = [
  {
    name: "snapshot",
    about: `a run of ${ROWS} rows / compressing and writing its chunks from memory`,
    unit: "ms",
    aim: 2,
    why: "the limit has the rows as JSON in memory, and the run reads them and builds their JSON in SQL first",
    run: (options) =>
      inFolder(async (folder) => {
        const exports = await open();
        const chunks = await chunksOf(exports, await exports.run(), ROWS);
        const rows = await Promise.all(chunks.map(decompress));
        const files = createDiskFiles(folder);
        let written = 0;
        const write = async (): Promise<void> => {
          for (const some of rows) {
            written += 1;
            const chunk = await compressRows(some);
            await files.put(`bench/chunk-${written}`, only(chunk), chunk.length);
          }
        };
        const samples = await interleaved(
          { ours: () => wallMs(() => exports.run()), base: () => wallMs(write) },
          { ...options, warmUp: 5 },
        );
        await exports.close();
        return samples;
      }),
  },
  {
    name: "snapshot-page",
    about: `a page of ${PAGE_ROWS} rows of a run / reading and inflating its chunks`,
    unit: "ms",
    aim: 1.3,
    why: "each chunk is compared with its hash, and the rows pass through the response in pieces of 256 KiB, which the limit leaves out",
    async run(options) {
      const exports = await open();
      const run = await exports.run();
      const path = `/export-runs/${run.schedule_id}/data?limit=${PAGE_ROWS}`;
      const page = async (): Promise<void> => {
        const { body, ok } = await exports.ask(path);
        if (body === null || !ok) throw new Error("no page");
        for await (const _piece of body);
      };
      const inflateAll = async (): Promise<void> => {
        for (const chunk of await chunksOf(exports, run, PAGE_ROWS)) {
          await decompress(chunk);
        }
      };
      const samples = await interleaved(
        { ours: () => wallMs(page), base: () => wallMs(inflateAll) },
        options,
      );
      await exports.close();
      return samples;
    },
  },
];
