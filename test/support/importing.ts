import type { Clock } from "../../src/kit/clock.ts";
import type { Source } from "../../src/contract/payments/catalogue.ts";
import { randomId } from "../../src/kit/ids.ts";
import type { RecordChange } from "../../src/platform/admin/changes.ts";
import type { Format } from "../../src/platform/import/formats.ts";
import { importFile, type ImportFileNeeds } from "../../src/platform/import/import-file.ts";
import type { Kind } from "../../src/platform/import/kinds.ts";
import type { Counts } from "../../src/platform/import/report.ts";
import type { Reject } from "../../src/platform/import/run.ts";
import { DISPUTES, type Person, type TestPlatform } from "./platform.ts";

type How = {
  map?: object;
  /** Undefined: the content decides. */
  format?: Format | undefined;
  /** The name of the file. */
  file?: string;
  source?: Source;
  dryRun?: boolean;
  createConfiguration?: boolean;
  ended?: AbortSignal;
  record?: RecordChange;
  invite?: ImportFileNeeds["invite"];
};

type At = Pick<TestPlatform, "store"> & { clock?: Clock };

/** Bytes in pieces, as a file is read. */
export async function* pieces(text: string | Buffer, size = 64): AsyncGenerator<Buffer> {
  const all = Buffer.from(text);
  for (let from = 0; from < all.length; from += size) yield all.subarray(from, from + size);
}

/** The counts that are not 0 on every import, so that tests of tables need not name the others. */
type ShownCounts = Omit<Counts, "leftOut" | "doubtful"> & Partial<Counts>;

const selectCounts = ({ leftOut, doubtful, ...counts }: Counts): ShownCounts => {
  const { read, written, unchanged, skipped, rejected } = counts;
  return {
    read,
    written,
    unchanged,
    skipped,
    rejected,
    ...(leftOut === 0 ? {} : { leftOut }),
    ...(doubtful === 0 ? {} : { doubtful }),
  };
};

const listen = () => {
  const rejects: Reject[] = [];
  const ignored: string[] = [];
  const warned: string[] = [];
  const progress: ShownCounts[] = [];
  const listeners: Pick<ImportFileNeeds, "reject" | "progress" | "ignored" | "warn"> = {
    reject: async (more) => void rejects.push(...more),
    progress: (sofar) => void progress.push(selectCounts(sofar)),
    ignored: (columns) => void ignored.push(...columns),
    warn: (place, message) => void warned.push(`${place} ${message}`),
  };
  return { heard: { rejects, ignored, warned, progress }, listeners };
};

/** Imports a file as the command does, and gives the counts, the whole report and what was refused. */
export const importText = async (
  { store, clock = () => Date.now() }: At,
  tenantId: string,
  kind: Kind,
  text: string | Buffer,
  how: How = {},
) => {
  const { map, source = "cashapp", file = "file", createConfiguration = false } = how;
  const { ended = new AbortController().signal, record = async () => {}, dryRun = false } = how;
  const { heard, listeners } = listen();
  const report = await importFile({
    ...listeners,
    store,
    clock,
    newId: randomId,
    tenantId,
    kind,
    source,
    createConfiguration,
    dryRun,
    format: how.format,
    map: map === undefined ? undefined : JSON.stringify(map),
    actor: "tester",
    input: { name: file, bytes: () => pieces(text, 4096), place: Buffer.from(text) },
    ended,
    record,
    invite: how.invite,
  });
  return { counts: selectCounts(report), report, ...heard };
};

export const importDisputes = (
  at: TestPlatform,
  tenantId: string,
  text: string | Buffer,
  how: How = {},
) => importText(at, tenantId, "disputes", text, { format: "csv", ...how });

/** Imports records that need no more than their tenant. */
export const importRecords = (
  at: TestPlatform,
  tenantId: string,
  kind: "accounts" | "documents" | "closures" | "audit-logs",
  text: string | Buffer,
  how: How = {},
) => importText(at, tenantId, kind, text, { format: "csv", ...how });

/** Imports business units, scores or applications, one object a line, or text as it is. */
export const importCredit = (
  at: At,
  tenantId: string,
  kind: "business-units" | "scores" | "credit-applications",
  records: readonly unknown[] | string,
  how: How = {},
) => {
  const text =
    typeof records === "string" ? records : records.map((one) => JSON.stringify(one)).join("\n");
  return importText(at, tenantId, kind, text, { format: "ndjson", ...how });
};

/** Imports payment rows. */
export const importPayments = (
  at: At & { clock: Clock },
  { tenantId, source }: { tenantId: string; source: Source },
  text: string | Buffer,
  how: How = {},
) => importText(at, tenantId, "payments", text, { format: "csv", source, ...how });

/** A dispute of a list. */
export type Listed = Record<string, unknown> & { disputeId: string; disputeCode: string };

export const listDisputes = async (who: Person, query = ""): Promise<Listed[]> =>
  (await who.call("GET", `${DISPUTES}${query}`)).body;

/** The only dispute of a document. */
export const findDispute = async (who: Person, documentNumber: string): Promise<Listed> => {
  const [dispute, ...others] = await listDisputes(who, `?DocumentNumber=${documentNumber}`);
  if (dispute === undefined || others.length > 0) throw new Error(`no single ${documentNumber}`);
  return dispute;
};

/** A CSV file of records. */
export const toCsv = (...rows: Record<string, string | number>[]): string => {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const lines = rows.map((row) => columns.map((name) => row[name] ?? "").join(","));
  return [columns.join(","), ...lines].join("\n");
};

/** The counts of an empty file. */
export const NONE = { read: 0, written: 0, unchanged: 0, skipped: 0, rejected: 0 };
