import type { Fault } from "../../contract/errors.ts";
import type { Checked } from "../../contract/faults.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Db } from "../store/port.ts";
import type { Tables } from "../store/tables/schema.ts";
import type { Fields } from "./fields.ts";
import type { PaymentItem } from "./items.ts";

/** Dependencies of the targets that write rows of one tenant. */
export type Needs = { tenantId: string; clock: Clock };

/** A row, or a payment of a bank file, that its target has parsed. */
export type Accepted<Values> = { line: number; values: Values; sourceKey: string | undefined };

/** Tells the rows of a file apart that must not be written over each other. */
export type RowIdentity = {
  /** The field that names the record. */
  field: string;
  key: string;
  /** Rows with one key of which a fact differs contradict each other, and all of them are refused. Null: unknown. */
  facts: readonly (string | null)[];
  /** The names of the facts, for messages. */
  names?: readonly string[];
};

/** An amount of a row, counted once per payment; without its id, each row counts. */
export type Money = { paymentId?: string; currency: string; amount: string };

/** A possible duplicate among payments. */
export type Doubt = {
  line: number;
  paymentId: string;
  currencyCode: string;
  amount: number;
  reason: string;
};

/** A payment that is no longer doubtful. */
export type Settled = Pick<Doubt, "paymentId" | "currencyCode" | "amount">;

/** The result of writing a row; faults mean that it was rejected. */
export type Outcome = "written" | "unchanged" | readonly Fault[];

/** Receives what a batch does beside its outcomes, for the import's record. */
export type Journal = {
  importId: string;
  created<T extends keyof Tables>(table: T, rows: readonly Tables[T][]): void;
  changed<T extends keyof Tables>(table: T, before: Tables[T], after: Tables[T]): void;
  removed<T extends keyof Tables>(table: T, before: Tables[T]): void;
  doubt(doubt: Doubt): void;
  /** Takes back the doubt about a payment of the file, which a later entry of it settled. */
  settle(doubt: Settled): void;
  /** Names a new user by e-mail address, who has no password yet. */
  invite(email: string): void;
};

/** A kind of record that can be imported. */
export type Target<Values = unknown> = {
  kind: string;
  fields: Fields;
  /** Number of rows written in one transaction. */
  batchRows: number;
  parse(record: Record<string, unknown>): Checked<Values>;
  /** Parses a payment of a bank file. */
  parsePayment?(item: PaymentItem): Checked<Values>;
  /** The number of rows that a payment of a bank file becomes; 1 for other kinds. */
  countRows?(values: Values): number;
  identify?(row: Omit<Accepted<Values>, "line">): RowIdentity | undefined;
  getMoney?(values: Values): Money | undefined;
  /** Whether both belong to one payment, so that they are written in one batch. */
  isContinued?(before: Values, next: Values): boolean;
  /** Writes rows in order within one transaction and returns one outcome each. */
  write(tx: Db, rows: readonly Accepted<Values>[], journal: Journal): Promise<Outcome[]>;
  /** Releases resources other than the store. */
  close?(): void;
};

/** The fields of a kind's rows, and the check of one row. */
export type Form<Values = unknown> = Pick<Target<Values>, "fields" | "parse">;
