import type { CommandAction } from "../../src/contract/audit-actions.ts";
import type { Clock } from "../../src/kit/clock.ts";
import type { Source } from "../../src/contract/payments/catalogue.ts";
import { randomId } from "../../src/kit/ids.ts";
import type { RecordChange } from "../../src/platform/admin/changes.ts";
import { createAccountTarget } from "../../src/platform/import/accounts.ts";
import { createAuditLogTarget } from "../../src/platform/import/audit-logs.ts";
import { createBusinessUnitTarget } from "../../src/platform/import/business-units.ts";
import { createClosureTarget } from "../../src/platform/import/closures.ts";
import { createApplicationTarget } from "../../src/platform/import/credit-applications.ts";
import { createDisputeTarget } from "../../src/platform/import/disputes.ts";
import { createDocumentTarget } from "../../src/platform/import/documents.ts";
import { createPaymentTarget } from "../../src/platform/import/payments.ts";
import { type Format, isBankFormat } from "../../src/platform/import/formats.ts";
import { parseImportMap } from "../../src/platform/import/map.ts";
import { type Counts, type Reject, runImport } from "../../src/platform/import/run.ts";
import { createScoreTarget } from "../../src/platform/import/scores.ts";
import type { Store } from "../../src/platform/store/port.ts";
import type { Target } from "../../src/platform/import/target.ts";
import type { TestPlatform } from "./platform.ts";

type How = {
  map?: object;
  format?: Format;
  createConfiguration?: boolean;
  ended?: AbortSignal;
  record?: RecordChange;
};

/** Bytes in pieces, as a file is read. */
export async function* pieces(text: string | Buffer, size = 64): AsyncGenerator<Buffer> {
  const all = Buffer.from(text);
  for (let from = 0; from < all.length; from += size) yield all.subarray(from, from + size);
}

/** Imports rows to a target and gives the counts and what was refused. */
const importTo = async <Values>(
  { store }: Pick<TestPlatform, "store">,
  tenantId: string,
  target: Target<Values>,
  text: string | Buffer,
  { map, format = "csv", ended, record }: How,
) => {
  const rejects: Reject[] = [];
  const ignored: string[] = [];
  const warned: string[] = [];
  const progress: Counts[] = [];
  const counts = await runImport({
    store,
    tenantId,
    target,
    format,
    map: map === undefined ? undefined : parseImportMap(JSON.stringify(map), target.fields),
    bytes: () => pieces(text, 4096),
    reject: async (more) => {
      rejects.push(...more);
    },
    progress: (sofar) => progress.push({ ...sofar }),
    ignored: (columns) => ignored.push(...columns),
    warn: (place, message) => warned.push(`${place} ${message}`),
    ended: ended ?? new AbortController().signal,
    record: async (tx, metadata) =>
      record?.(tx, { tenantId, action: `import.${target.kind}` as CommandAction, metadata }),
  });
  return { counts, rejects, ignored, warned, progress };
};

export const importDisputes = (
  at: TestPlatform,
  tenantId: string,
  text: string | Buffer,
  how: How = {},
) => {
  const { createConfiguration = false } = how;
  const { clock, store } = at;
  const newId = randomId;
  const target = createDisputeTarget({ tenantId, createConfiguration, clock, newId, store });
  return importTo(at, tenantId, target, text, how);
};

type Kind = "accounts" | "documents" | "closures" | "audit-logs";

const RECORDS: Record<Kind, (needs: { tenantId: string; clock: Clock; store: Store }) => Target> = {
  accounts: createAccountTarget,
  documents: createDocumentTarget,
  closures: createClosureTarget,
  "audit-logs": createAuditLogTarget,
};

/** Imports records that need no more than their tenant. */
export const importRecords = (
  at: TestPlatform,
  tenantId: string,
  kind: Kind,
  text: string | Buffer,
  how: How = {},
) => importTo(at, tenantId, RECORDS[kind]({ ...at, tenantId }), text, how);

const CREDIT = {
  "business-units": createBusinessUnitTarget,
  scores: createScoreTarget,
  "credit-applications": createApplicationTarget,
};

/** Imports business units, scores or applications, one object a line, or text as it is. */
export const importCredit = (
  at: Pick<TestPlatform, "store">,
  tenantId: string,
  kind: keyof typeof CREDIT,
  records: readonly unknown[] | string,
  how: How = {},
) => {
  const target: Target = CREDIT[kind]({ tenantId });
  const text =
    typeof records === "string" ? records : records.map((one) => JSON.stringify(one)).join("\n");
  return importTo(at, tenantId, target, text, { format: "ndjson", ...how });
};

/** Imports payment rows. */
export const importPayments = async (
  at: Pick<TestPlatform, "store"> & { clock: Clock },
  { tenantId, source }: { tenantId: string; source: Source },
  text: string | Buffer,
  how: How = {},
) => {
  const matching = isBankFormat(how.format ?? "csv");
  const target = createPaymentTarget({ tenantId, source, clock: at.clock, matching });
  try {
    return await importTo(at, tenantId, target, text, how);
  } finally {
    target.close?.();
  }
};
