import type { NewId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { createTarget } from "../../src/platform/import/kinds.ts";
import { runImport } from "../../src/platform/import/run.ts";
import type { Target } from "../../src/platform/import/target.ts";
import { application } from "../support/credit.ts";
import type { Dice } from "../support/dice.ts";
import type { Inspector } from "./inspector.ts";
import { checkMoney, createMoney, type Money, toAdvice, toDocument } from "./money.ts";
import type { Node } from "./node.ts";
import type { RetentionCheck } from "./retention.ts";
import type { TenantId } from "./settings.ts";

type Kind = "accounts" | "credit-applications" | "documents" | "payments";

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
  /** A row that was rejected, though each of these files is good. */
  rejected?: string;
  /** The amounts due of documents, and their payments. */
  money?: Money;
};

const ROWS = [1, 7, 23];
/** Small, so that an import can end between its batches. */
const BATCH_ROWS = 5;

const rowOf = ({ kind, tenantId, money }: ImportedFile, key: string): object => {
  if (money !== undefined) return toDocument(money, key);
  return kind === "accounts"
    ? { account_number: key, name: `${tenantId} imported`, currency: "EUR" }
    : application(key, { contact: { firstName: tenantId, lastName: null, email: null } });
};

const textOf = (file: ImportedFile): string =>
  file.kind === "payments" && file.money !== undefined
    ? toAdvice(file.money)
    : file.keys.map((key) => JSON.stringify(rowOf(file, key))).join("\n");

const targetOf = ({ kind, tenantId }: ImportedFile, { clock, store }: Node, newId: NewId): Target =>
  createTarget(kind, {
    tenantId,
    clock,
    store,
    newId,
    source: "cashapp",
    createConfiguration: false,
  });

/** Adds a file of documents and one of the payment of them, which are imported in any order. */
const addMoney = (dice: Dice, files: ImportedFile[], tenantId: TenantId): ImportedFile[] => {
  const place = files.length;
  // The letter keeps numbers apart, which are compared without dashes and padding.
  const [bill, advice] = [`${tenantId}-bill-${place}x`, `${tenantId}-advice-${place}-`];
  const keys = Array.from({ length: dice.pick(ROWS) }, (_, index) => `${bill}${index}`);
  const money = createMoney(tenantId, place, keys);
  const shared = { tenantId, keys, money, isComplete: false, isBusy: false };
  const pair: ImportedFile[] = [
    { ...shared, kind: "documents", mark: bill },
    { ...shared, kind: "payments", mark: advice },
  ];
  files.push(...pair);
  return pair;
};

/** A file to import: a new one, or one that was imported before, whether that import ended or not. */
export const chooseImport = (
  dice: Dice,
  files: ImportedFile[],
  tenantId: TenantId,
): ImportedFile => {
  const idle = files.filter(({ isBusy }) => !isBusy);
  if (idle.length > 0 && dice.chance(0.5)) return dice.pick(idle);
  if (dice.chance(0.5)) return dice.pick(addMoney(dice, files, tenantId));
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
  const { tenantId, kind } = file;
  const text = textOf(file);
  const target = targetOf(file, node, newId);
  const record = createRecordChange({ store, clock, newId, operator: "simulation" });
  const { rejected } = await runImport({
    store,
    tenantId,
    importId: `${file.mark}run-${number}`,
    changesBefore: 0,
    target: { ...target, batchRows: BATCH_ROWS },
    format: kind === "payments" ? "edi820" : "ndjson",
    map: undefined,
    bytes: async function* bytes() {
      yield Buffer.from(text);
    },
    reject: async (rejects) => {
      file.rejected = JSON.stringify(rejects[0]);
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
  documents: ["documents", "document_number"],
} as const;

/** Checks that each row of an ended import is there once, and each row that is there is in an audit entry. */
export const checkImports = (
  { inspector, retention }: { inspector: Inspector; retention: RetentionCheck },
  files: readonly ImportedFile[],
): void => {
  for (const { tenantId, kind, mark, keys, isComplete, money, rejected } of files) {
    if (rejected !== undefined) throw new Error(`an import rejects ${rejected}`);
    const told = retention.countWritten(tenantId, `${mark}run-`);
    if (kind === "payments") {
      if (money !== undefined) checkMoney(inspector, money, { isComplete, told });
      continue;
    }
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
    if (told !== rows.length) {
      throw new Error(`${mark} has ${rows.length} rows, its audit entries say ${told}`);
    }
  }
};
