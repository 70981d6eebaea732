import { Problem } from "../../contract/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import type { RecordChange } from "../admin/changes.ts";
import { putImport } from "../store/imports.ts";
import type { Db, Store } from "../store/port.ts";
import type { ImportRow } from "../store/tables.ts";
import { openMembers } from "./archive.ts";
import { detectContent } from "./detect.ts";
import { detectEncoding, type Encoding, toUtf8 } from "./encoding.ts";
import { type Format, isBankFormat } from "./formats.ts";
import { createTarget, getUsualFormat, type Kind, type TargetNeeds } from "./kinds.ts";
import { parseImportMap } from "./map.ts";
import type { Counts, Report, Totals } from "./report.ts";
import { NO_COUNTS } from "./report.ts";
import { type Reject, runImport } from "./run.ts";

/** A file that can be opened from its start with each call. */
export type Input = { name: string; bytes: () => AsyncIterable<Uint8Array> };

export type ImportFileNeeds = Omit<TargetNeeds, "store"> & {
  store: Pick<Store, "auditKey" | "transaction">;
  clock: Clock;
  kind: Kind;
  input: Input;
  /** Undefined: the content decides. */
  format: Format | undefined;
  /** The text of a map. */
  map: string | undefined;
  /** The user of the operating system. */
  actor: string;
  record: RecordChange;
  reject: (rejects: readonly Reject[]) => Promise<void>;
  progress: (counts: Counts) => void;
  ignored: (columns: readonly string[]) => void;
  warn: (place: string, message: string) => void;
  ended: AbortSignal;
};

/** What was found out about a file before it is read. */
type Opened = { format: Format; encoding: Encoding | undefined; input: Input };

/** A file of an import with its counts and sums. */
export type FileReport = Counts & {
  file: string;
  format: Format;
  /** Absent for workbooks. */
  encoding?: string;
  totals: Totals[];
};

export type ImportReport = Counts & {
  importId: string;
  /** Of each member of a ZIP, by its name. */
  totals: (Totals & { file?: string })[];
  doubts: Report["doubts"];
  entriesLeftOut: Report["entriesLeftOut"];
  files: FileReport[];
};
