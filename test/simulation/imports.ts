import type { NewId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { createAccountTarget } from "../../src/platform/import/accounts.ts";
import { createApplicationTarget } from "../../src/platform/import/credit-applications.ts";
import { runImport } from "../../src/platform/import/run.ts";
import type { Target } from "../../src/platform/import/target.ts";
import { application } from "../support/credit.ts";
import type { Dice } from "../support/dice.ts";
import type { Inspector } from "./inspector.ts";
import type { Node } from "./node.ts";
import type { TenantId } from "./settings.ts";

type Kind = "accounts" | "credit-applications";

/** A file that was imported once or more often. */
export type ImportedFile = {
  tenantId: TenantId;
  kind: Kind;
  /** The beginning of the keys of its rows, and of no others. */
  mark: string;
  keys: string[];
  /** Whether some import of it came to its end. */
  isComplete: boolean;
  /** Set while an import of it runs, because two at a time divide its rows. */
  isBusy: boolean;
};

const ROWS = [1, 7, 23];
/** Small, so that an import can end between its batches. */
const BATCH_ROWS = 5;

const rowOf = ({ kind, tenantId }: ImportedFile, key: string): object =>
  kind === "accounts"
    ? { account_number: key, name: `${tenantId} imported`, currency: "EUR" }
    : application(key, { contact: { firstName: tenantId, lastName: null, email: null } });

const targetOf = ({ kind, tenantId }: ImportedFile, { clock }: Node): Target =>
  kind === "accounts"
    ? createAccountTarget({ tenantId, clock })
    : createApplicationTarget({ tenantId });

/** A file to import: a new one, or one that was imported before, whether that import ended or not. */
export const chooseImport = (
  dice: Dice,
  files: ImportedFile[],
  tenantId: TenantId,
): ImportedFile => {
  const idle = files.filter(({ isBusy }) => !isBusy);
  if (idle.length > 0 && dice.chance(0.5)) return dice.pick(idle);
  const kind = dice.pick<Kind>(["accounts", "credit-applications"]);
  const mark = `${tenantId}-import-${files.length}-`;
  const keys = Array.from({ length: dice.pick(ROWS) }, (_, index) => `${mark}${index}`);
  const file = { tenantId, kind, mark, keys, isComplete: false, isBusy: false };
  files.push(file);
  return file;
};

/** Imports a file as the command line does. It ends with the process. */
export const importFile = async (
  node: Node,
  file: ImportedFile,
  { number, newId }: { number: number; newId: NewId },
): Promise<void> => {
  const { store, clock } = node;
  const { tenantId, kind, keys } = file;
  const text = keys.map((key) => JSON.stringify(rowOf(file, key))).join("\n");
  const record = createRecordChange({ store, clock, newId, operator: "simulation" });
  const { rejected } = await runImport({
    store,
    tenantId,
    importId: `${file.mark}run-${number}`,
    changesBefore: 0,
    target: { ...targetOf(file, node), batchRows: BATCH_ROWS },
    format: "ndjson",
    map: undefined,
    bytes: async function* bytes() {
      yield Buffer.from(text);
    },
    reject: async (rejects) => {
      throw new Error(JSON.stringify(rejects[0]));
    },
    progress: () => {},
    ignored: () => {},
    warn: () => {},
    ended: new AbortController().signal,
    record: (tx, counts) =>
      record(tx, {
        tenantId,
        action: `import.${kind}`,
        resourceId: `${file.mark}run-${number}`,
        metadata: { ...counts },
      }),
  });
  if (!node.life.hasEnded && rejected === 0) file.isComplete = true;
};

const KEYS = {
  accounts: ["accounts", "account_number"],
  "credit-applications": ["credit_applications", "id"],
} as const;

/** Checks that each row of an ended import is there once, and each row that is there is in an audit entry. */
export const checkImports = (inspector: Inspector, files: readonly ImportedFile[]): void => {
  for (const { tenantId, kind, mark, keys, isComplete } of files) {
    const [table, column] = KEYS[kind];
    const rows = inspector.all<{ key: string }>(
      `select ${column} as key from ${table} where tenant_id = ? and ${column} like ?`,
      tenantId,
      `${mark}%`,
    );
    const there = new Set(rows.map(({ key }) => key));
    if (there.size < rows.length) throw new Error(`a row of ${mark} is there twice`);
    const lost = isComplete ? keys.find((key) => !there.has(key)) : undefined;
    if (lost !== undefined) throw new Error(`${lost} was imported, and is lost`);
    const [told] = inspector.all<{ rows: number | null }>(
      `select sum(rows) as rows from (
         select max(json_extract(metadata, '$.written')) as rows from audit_logs
         where tenant_id = ? and json_extract(metadata, '$.resourceId') like ?
         group by json_extract(metadata, '$.resourceId'))`,
      tenantId,
      `${mark}run-%`,
    );
    if ((told?.rows ?? 0) !== rows.length) {
      throw new Error(`${mark} has ${rows.length} rows, its audit entries say ${told?.rows}`);
    }
  }
};
