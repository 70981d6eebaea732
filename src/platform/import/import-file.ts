import type { CommandAction } from "../../contract/audit-actions.ts";
import { Problem } from "../../contract/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Metadata } from "../store/audit/entries.ts";
import { putImport } from "../store/queries/imports.ts";
import { hasPaymentFrom } from "../store/queries/payments.ts";
import type { Db, Store } from "../store/port.ts";
import type { ImportRow } from "../store/tables/schema.ts";
import type { Content } from "./detect.ts";
import { rollBack } from "../roll-back.ts";
import type { Fields } from "./fields.ts";
import { type Format, isBankFormat } from "./formats.ts";
import {
  createForeign,
  detectFile,
  eachFile,
  type Input,
  type InputFile,
  openText,
} from "./input.ts";
import { createTarget, getUsualFormat, type Kind, type TargetNeeds } from "./kinds.ts";
import { type ImportMap, parseBankMap, parseImportMap } from "./map.ts";
import { type Counts, NO_COUNTS, type Report } from "./report.ts";
import { type Reject, runImport } from "./run.ts";

export type ImportFileNeeds = Omit<TargetNeeds, "store"> & {
  store: Pick<Store, "auditKey" | "transaction">;
  /** Whether everything is rolled back at the end. Other writers wait meanwhile. */
  dryRun: boolean;
  clock: Clock;
  kind: Kind;
  input: Input;
  /** Undefined: the content decides. */
  format: Format | undefined;
  /** The text of a map. */
  map: string | undefined;
  /** The user of the operating system. */
  actor: string;
  /** Writes the audit entry of the import within a transaction. */
  record: (
    tx: Db,
    change: { tenantId: string; action: CommandAction; metadata: Metadata },
  ) => Promise<void>;
  reject: (rejects: readonly Reject[]) => Promise<void>;
  /** Receives the e-mail addresses of new users, who have no password; not called in a dry run. */
  invite?: ((emails: readonly string[]) => Promise<void>) | undefined;
  progress: (counts: Counts) => void;
  ignored: (columns: readonly string[]) => void;
  warn: (place: string, message: string) => void;
  ended: AbortSignal;
};

/** A file of an import with its counts and sums. */
export type FileReport = Report & {
  file: string;
  format: Format;
  /** Absent for workbooks. */
  encoding?: string;
};

export type ImportReport = Counts & {
  importId: string;
  /** One per file: a ZIP has several. */
  files: readonly FileReport[];
};

/** A file whose format and encoding are known; its bytes are UTF-8 unless it is a workbook. */
type Opened = InputFile & { format: Format; map: ImportMap | undefined; encoding?: string };

const chooseFormat = (
  { kind, format, input }: ImportFileNeeds,
  found: Content,
  name: string,
): Format => {
  if (format !== undefined) return format;
  if (typeof found === "object") throw createForeign(name, found.foreign);
  if (found === "xlsx" || found === "ndjson") return found;
  if (found !== "csv" && found !== "zip" && kind === "payments") return found;
  return /\.(ndjson|jsonl)$/i.test(input.name) ? "ndjson" : getUsualFormat(kind);
};

const parseMap = (
  { map }: ImportFileNeeds,
  format: Format,
  fields: Fields,
): ImportMap | undefined => {
  if (map === undefined) return undefined;
  return isBankFormat(format)
    ? { entries: new Map(), where: [], sourceKey: undefined, ...parseBankMap(map) }
    : parseImportMap(map, fields);
};

/** Returns the format of a file, whose content must not be of a kind that cannot be imported. */
const findFormat = async (needs: ImportFileNeeds, input: InputFile): Promise<Format> => {
  const found = await detectFile(input);
  // A table with stray control characters looks like a binary file; its rows are refused one by one.
  const isTable = needs.format === "csv" || needs.format === "ndjson";
  if (typeof found === "object" && !isTable) throw createForeign(input.name, found.foreign);
  return chooseFormat(needs, found, input.name);
};

const openFile = async (
  needs: ImportFileNeeds,
  input: InputFile,
  fields: Fields,
): Promise<Opened> => {
  const format = await findFormat(needs, input);
  const map = parseMap(needs, format, fields);
  if (format === "xlsx") return { ...input, format, map };
  return { name: input.name, format, map, ...(await openText(input, map?.encoding)) };
};

type Run = {
  needs: ImportFileNeeds;
  importId: string;
  beganAt: number;
  /** The reports of the files before this one. */
  done: FileReport[];
};

const addCounts = (one: Counts, other: Counts): Counts => {
  const names = Object.keys(NO_COUNTS) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Counts;
};

const sumCounts = (reports: readonly Counts[]): Counts => reports.reduce(addCounts, NO_COUNTS);

const toRecord = (
  { needs, importId, beganAt, done }: Run,
  status: ImportRow["status"],
  counts: Counts,
): ImportRow => {
  const { tenantId, kind, source, input, actor, clock } = needs;
  const ofPayments = kind === "payments" ? { source } : {};
  const totals = done.flatMap(({ file, totals: all }) => all.map((one) => ({ file, ...one })));
  return {
    tenant_id: tenantId,
    id: importId,
    kind,
    file: input.name,
    status,
    started_at: beganAt,
    ended_at: status === "running" ? null : clock(),
    report: JSON.stringify({ ...ofPayments, ...counts, totals }),
    actor,
  };
};

/** Whether the tenant may have payments under the ids that version 0.1.0 gave those of a format. */
const hasFormerPayments = (
  { store, tenantId }: ImportFileNeeds,
  format: Format,
): Promise<boolean> =>
  store.transaction((tx) => hasPaymentFrom(tx, tenantId, `${format}-`), tenantId);

const importOne = async (run: Run, input: InputFile): Promise<FileReport> => {
  const { needs, importId, done } = run;
  const { tenantId, kind, source, record } = needs;
  const target = createTarget(kind, needs);
  try {
    const { format, bytes, name, encoding, map } = await openFile(needs, input, target.fields);
    const origin = { importId, format, ...(kind === "payments" ? { source } : {}) };
    const before = sumCounts(done);
    const report = await runImport({
      ...needs,
      importId,
      changesBefore: done.at(-1)?.changes ?? 0,
      target,
      map,
      format,
      bytes,
      hasFormer: isBankFormat(format) && (await hasFormerPayments(needs, format)),
      async record(tx, { status, ...counts }) {
        await putImport(tx, toRecord(run, status, addCounts(before, counts)));
        const metadata = { ...origin, ...counts, status };
        await record(tx, { tenantId, action: `import.${kind}`, metadata });
      },
    });
    return { ...report, file: name, format, ...(encoding === undefined ? {} : { encoding }) };
  } finally {
    target.close?.();
  }
};

/** Names the files of a ZIP that were imported before one that is refused. */
const nameDone = ({ needs, importId, done }: Run, error: unknown): unknown => {
  if (!(error instanceof Problem) || done.length === 0 || needs.dryRun) return error;
  const refused = error.message.replace(/ Nothing was changed\.$/, "");
  const before =
    done.length === 1 ? "The file before it stays" : `The ${done.length} files before it stay`;
  const message = `${refused} ${before} imported; import undo ${importId} takes that back.`;
  return new Problem("invalid_request", message);
};

const importAll = async (needs: ImportFileNeeds): Promise<ImportReport> => {
  const { store, clock, newId, tenantId } = needs;
  const run: Run = { needs, importId: newId(), beganAt: clock(), done: [] };
  // A ZIP with a file of another kind changes nothing.
  await eachFile(needs.input, async (file) => void (await findFormat(needs, file)));
  try {
    await eachFile(needs.input, async (file) => void run.done.push(await importOne(run, file)));
  } catch (error) {
    throw nameDone(run, error);
  }
  const counts = sumCounts(run.done);
  await store.transaction((tx) => putImport(tx, toRecord(run, "completed", counts)), tenantId);
  return { importId: run.importId, ...counts, files: run.done };
};

/** Runs an import in one transaction, which is rolled back. */
const rehearse = (needs: ImportFileNeeds): Promise<ImportReport> =>
  rollBack(
    needs.store,
    (tx) =>
      importAll({
        ...needs,
        store: { ...needs.store, transaction: (act) => act(tx) },
        invite: undefined,
      }),
    needs.tenantId,
  );

/**
 * Imports a file, or each file of a ZIP, in its own format and encoding. A file that is refused changes nothing; the
 * files before it stay.
 *
 * @throws {Problem} invalid_request
 */
export const importFile = (needs: ImportFileNeeds): Promise<ImportReport> =>
  needs.dryRun ? rehearse(needs) : importAll(needs);
