import { type FileHandle, open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Problem } from "../../contract/errors.ts";
import { createLog } from "../../kit/log.ts";
import { checkReplaceable } from "../../kit/replace-file.ts";
import { listImports, undoImport } from "../../platform/admin/imports.ts";
import { checkTenantExists } from "../../platform/admin/tenants.ts";
import { importFile as importInput, type ImportReport } from "../../platform/import/import-file.ts";
import type { Reject } from "../../platform/import/run.ts";
import type { Io } from "./io.ts";
import { type Base, readOperator } from "../compose/platform.ts";
import type { ImportOptions } from "./import-options.ts";
import { createInvitations } from "./invitations.ts";
import { type Input, openInput, readTextFile } from "./input-file.ts";
import { createProgress } from "./progress.ts";
import { printFromStore, withStore } from "./admin.ts";

async function* countBytes(bytes: AsyncIterable<Uint8Array>, count: (more: number) => void) {
  for await (const chunk of bytes) {
    count(chunk.length);
    yield chunk;
  }
}

/**
 * The file of the rejected rows, created at the first one. It replaces the file of an earlier import; a link or folder
 * of that name is refused before the import begins.
 */
const createRejectFile = (path: string) => {
  checkReplaceable(path);
  let handle: FileHandle | undefined;
  let first: Reject | undefined;
  // `wx` creates a new file and follows no link that appears after the former file is gone.
  const create = async (): Promise<FileHandle> => {
    await rm(path, { force: true });
    return open(path, "wx", 0o600);
  };
  return {
    path: () => (handle === undefined ? null : path),
    first: () => first,
    async add(rejects: readonly Reject[]) {
      first ??= rejects[0];
      handle ??= await create();
      await handle.appendFile(rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(""));
    },
    close: async () => handle?.close(),
    /** Removes the rejects of an earlier import if this one rejected nothing. */
    tidy: async () => handle ?? rm(path, { force: true }),
  };
};

const readMap = async ({ map }: ImportOptions): Promise<string | undefined> =>
  map === undefined ? undefined : readTextFile("map", map);

/** Summarizes the refused rows for a person. */
const formatRejects = (
  { read, rejected }: ImportReport,
  { line, field, message }: Reject,
): string =>
  `${rejected} of ${read} rows were refused, the first in line ${line}: ${[field, message].join(" ").trim()}.`;

/** Returns the report of the command, with one set of totals per file and currency. */
const showReport = (
  { kind, tenant: tenantId, verbose, dryRun }: ImportOptions,
  { files, importId, ...counts }: ImportReport,
  written: { rejects: string | null; resetLinks: string | null },
): object => {
  const isOne = files.length === 1;
  const [only] = files;
  const named = <T extends object>(file: string, one: T): T => (isOne ? one : { file, ...one });
  return {
    kind,
    tenantId,
    importId,
    ...(isOne ? { format: only?.format, encoding: only?.encoding } : {}),
    ...counts,
    totals: files.flatMap(({ file, totals }) => totals.map((one) => named(file, one))),
    doubts: files.flatMap(({ file, doubts }) => doubts.map((one) => named(file, one))),
    ...(isOne
      ? {}
      : {
          files: files.map(
            ({ totals: _t, doubts: _d, entriesLeftOut: _e, changes: _c, ...one }) => one,
          ),
        }),
    ...(verbose === true
      ? {
          entriesLeftOut: files.flatMap(({ file, entriesLeftOut }) =>
            entriesLeftOut.map((one) => named(file, one)),
          ),
        }
      : {}),
    ...(dryRun === true ? { dryRun } : {}),
    ...(kind === "users" ? written : { rejects: written.rejects }),
  };
};

const perform = async (io: Io, options: ImportOptions, base: Base, input: Input): Promise<void> => {
  const { kind, tenant: tenantId, source = "cashapp", format, dryRun } = options;
  const log = createLog(io.config.level);
  const { name } = input;
  const rejects = createRejectFile(resolve(`${name}.rejects.ndjson`));
  const links = createInvitations(io, base, tenantId, resolve(`${name}.reset-links.ndjson`));
  const { clock } = base;
  const progress = createProgress({ stream: process.stderr, log, clock, size: input.size });
  let bytes = 0;
  let report: ImportReport;
  try {
    report = await importInput({
      ...base,
      tenantId,
      kind,
      source,
      format,
      dryRun: dryRun === true,
      createConfiguration: options.createConfiguration ?? false,
      map: await readMap(options),
      actor: readOperator(),
      input: {
        name,
        place: input.handle,
        bytes: () => {
          bytes = 0;
          return countBytes(input.bytes(), (more) => (bytes += more));
        },
      },
      warn: (place, message) => log.warn("import.odd", { place, message }),
      reject: rejects.add,
      invite: links.invite,
      progress: (sofar) => progress.at(bytes, sofar),
      ignored: (columns) => log.warn("import.columns_ignored", { columns }),
      ended: io.takeSignals(),
    });
  } finally {
    progress.end();
    await rejects.close();
  }
  await rejects.tidy();
  const first = rejects.first();
  if (first !== undefined) io.notify(formatRejects(report, first));
  io.print(showReport(options, report, { rejects: rejects.path(), resetLinks: links.path() }));
  const { written, unchanged, rejected } = report;
  if (rejected > 0 && written + unchanged === 0) {
    throw new Problem("invalid_request", "Rows were refused, and none was imported.");
  }
};

/** Imports a file into the store directly, also while servers run on it. */
export const importFile = (io: Io, options: ImportOptions): Promise<void> =>
  withStore(io, async (base) => {
    await checkTenantExists(base.store.read, options.tenant);
    const input = await openInput(options.file);
    try {
      await perform(io, options, base, input);
    } finally {
      await input.close();
    }
  });

/** Lists a tenant's imports, one per line, the newest first. */
export const runImportList = (io: Io, { tenant: tenantId }: { tenant: string }): Promise<void> =>
  withStore(io, async ({ store }) => {
    await checkTenantExists(store.read, tenantId);
    for (const one of await listImports(store.read, tenantId)) io.print(one);
  });

/** Takes back what an import wrote. */
export const runImportUndo = (io: Io, importId: string): Promise<void> =>
  printFromStore(io, (base) => undoImport(base, importId));
