import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Problem } from "../../contract/errors.ts";
import type { Source } from "../../contract/payments/catalogue.ts";
import { getMessage } from "../../kit/error.ts";
import { createLog } from "../../kit/log.ts";
import { checkReplaceable } from "../../kit/replace-file.ts";
import { checkTenantExists } from "../../platform/admin/tenants.ts";
import { createAccountTarget } from "../../platform/import/accounts.ts";
import { createAuditLogTarget } from "../../platform/import/audit-logs.ts";
import { createBusinessUnitTarget } from "../../platform/import/business-units.ts";
import { createClosureTarget } from "../../platform/import/closures.ts";
import { createApplicationTarget } from "../../platform/import/credit-applications.ts";
import { createDisputeTarget } from "../../platform/import/disputes.ts";
import { createDocumentTarget } from "../../platform/import/documents.ts";
import { type Format, isBankFormat } from "../../platform/import/formats.ts";
import { type ImportMap, parseImportMap } from "../../platform/import/map.ts";
import { createPaymentTarget } from "../../platform/import/payments.ts";
import { type Counts, type Reject, runImport } from "../../platform/import/run.ts";
import { createScoreTarget } from "../../platform/import/scores.ts";
import type { Target } from "../../platform/import/target.ts";
import type { Io } from "../io.ts";
import type { Base } from "../platform.ts";
import type { Kind, ImportOptions } from "../import-options.ts";
import { createProgress } from "../progress.ts";
import { withStore } from "./admin.ts";

type Needs = Parameters<typeof createDisputeTarget>[0] &
  Pick<Base, "store"> & { source: Source; matching: boolean };

const TARGETS: Record<Kind, (needs: Needs) => Target> = {
  accounts: createAccountTarget,
  documents: createDocumentTarget,
  closures: createClosureTarget,
  disputes: createDisputeTarget,
  "audit-logs": createAuditLogTarget,
  "business-units": createBusinessUnitTarget,
  scores: createScoreTarget,
  "credit-applications": createApplicationTarget,
  payments: createPaymentTarget,
};

const createReadProblem = (what: string, path: string, error: unknown): Problem =>
  new Problem("not_found", `The ${what} ${path} cannot be read: ${getMessage(error)}`);

type Input = {
  /** Opens the input from its start with each call. */
  bytes: () => AsyncIterable<Uint8Array>;
  /** Size in bytes; undefined for a pipe. */
  size: number | undefined;
  close(): Promise<void>;
};

/** Reads standard input. Bank formats are read twice, so they are spooled to a temporary file. */
const openPipe = async (source: Readable, format: Format): Promise<Input> => {
  if (!isBankFormat(format)) {
    return { bytes: () => source, size: undefined, close: async () => {} };
  }
  const folder = await mkdtemp(join(tmpdir(), "receivables-import-"));
  const path = join(folder, "spooled");
  await pipeline(source, createWriteStream(path, { mode: 0o600 }));
  return {
    bytes: () => createReadStream(path),
    size: undefined,
    close: () => rm(folder, { recursive: true, force: true }),
  };
};

const openInput = async ({ file }: ImportOptions, format: Format): Promise<Input> => {
  if (file === "-") return openPipe(process.stdin, format);
  const handle = await open(file).catch((error: unknown) => {
    throw createReadProblem("file", file, error);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new Problem("invalid_request", `${file} is a folder.`);
  }
  if (!stat.isFile()) return openPipe(handle.createReadStream(), format);
  const bytes = () => handle.createReadStream({ autoClose: false, start: 0 });
  return { bytes, size: stat.size, close: () => handle.close() };
};

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

// Kinds with nested lists, which CSV cannot express.
const NESTED: ReadonlySet<Kind> = new Set(["business-units", "credit-applications"]);

/** Adds a hint to a format error if the format was guessed. */
const withFormatHint = (
  { format, kind }: ImportOptions,
  taken: Format,
  error: unknown,
): unknown => {
  const isForm = error instanceof Problem && error.code === "invalid_request";
  if (format !== undefined || kind !== "payments" || !isForm) return error;
  const message = `${error.message} It was read as ${taken}; choose another format with --format.`;
  return new Problem(error.code, message, error.details, error);
};

const chooseFormat = ({ format, file, kind }: ImportOptions): Format => {
  if (format !== undefined) return format;
  if (/\.csv$/i.test(file)) return "csv";
  return /\.(ndjson|jsonl)$/i.test(file) || NESTED.has(kind) ? "ndjson" : "csv";
};

const readMap = async ({ map }: ImportOptions, target: Target) => {
  if (map === undefined) return undefined;
  const text = await readFile(map, "utf8").catch((error: unknown) => {
    throw createReadProblem("map", map, error);
  });
  return parseImportMap(text, target.fields);
};

/** Summarizes the refused rows for a person. */
const formatRejects = ({ read, rejected }: Counts, { line, field, message }: Reject): string =>
  `${rejected} of ${read} rows were refused, the first in line ${line}: ${[field, message].join(" ").trim()}.`;

type Parts = {
  format: Format;
  target: Target;
  map: ImportMap | undefined;
  input: Input;
};

const perform = async (io: Io, options: ImportOptions, base: Base, parts: Parts): Promise<void> => {
  const { format, input, target, map } = parts;
  const { kind, tenant: tenantId, source } = options;
  const log = createLog(io.config.level);
  const name = options.file === "-" ? "stdin" : basename(options.file);
  const rejects = createRejectFile(resolve(`${name}.rejects.ndjson`));
  const { clock, store } = base;
  const change = { tenantId, action: `import.${kind}` as const };
  const origin = { format, ...(source === undefined ? {} : { source }) };
  const progress = createProgress({ stream: process.stderr, log, clock, size: input.size });
  let bytes = 0;
  let counts: Counts;
  try {
    counts = await runImport({
      store,
      tenantId,
      target,
      format,
      map,
      bytes: () => {
        bytes = 0;
        return countBytes(input.bytes(), (more) => (bytes += more));
      },
      warn: (place, message) => log.warn("import.odd", { place, message }),
      reject: rejects.add,
      progress: (sofar) => progress.at(bytes, sofar),
      ignored: (columns) => log.warn("import.columns_ignored", { columns }),
      ended: io.takeSignals(),
      record: (tx, run) => base.record(tx, { ...change, metadata: { ...origin, ...run } }),
    });
  } finally {
    progress.end();
    await rejects.close();
  }
  await rejects.tidy();
  const first = rejects.first();
  if (first !== undefined) io.tell(formatRejects(counts, first));
  io.print({ kind, tenantId, ...counts, rejects: rejects.path() });
};

/** Imports a file into the store directly, also while servers run on it. */
export const importFile = (io: Io, options: ImportOptions): Promise<void> =>
  withStore(io, async (base) => {
    const { tenant: tenantId, createConfiguration = false } = options;
    await checkTenantExists(base.store.read, tenantId);
    const source = options.source ?? "cashapp";
    const format = chooseFormat(options);
    const matching = isBankFormat(format);
    const target = TARGETS[options.kind]({
      ...base,
      tenantId,
      createConfiguration,
      source,
      matching,
    });
    const map = await readMap(options, target);
    const input = await openInput(options, format);
    try {
      await perform(io, options, base, { format, target, map, input });
    } catch (error) {
      throw withFormatHint(options, format, error);
    } finally {
      await input.close();
      target.close?.();
    }
  });
