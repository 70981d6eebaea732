import { hash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Counter } from "../kit/windows.ts";

/** One record of the authorization server. Ids are hashes and payloads encrypted, so a copy of the store opens nothing. */
export type StoredRecord = {
  kind: string;
  id: string;
  /** The grant with which the record ends. */
  grant_id: string | null;
  owner: string | null;
  payload: string;
  consumed_at: number | null;
  expires_at: number;
};

/** Storage that all processes of the server share. Times are epoch milliseconds. Expired records are not found. */
export type Storage = {
  upsert(record: StoredRecord): Promise<void>;
  /** Returns false if the record exists already. */
  add(record: StoredRecord): Promise<boolean>;
  find(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** Returns true for the first call only, among all processes. */
  consume(kind: string, id: string): Promise<boolean>;
  remove(kind: string, id: string): Promise<boolean>;
  removeByGrant(kind: string, grantId: string): Promise<void>;
  /** Gives all records of a grant a later end. */
  extendGrant(grantId: string, expiresAt: number): Promise<void>;
  listByOwner(kind: string, owner: string): Promise<StoredRecord[]>;
  /** If there are `max` owned records of the kind, removes the oldest one of the owner that has the most. */
  makeRoom(kind: string, max: number): Promise<void>;
  /** Removes and returns a record that owns no grant; undefined if it owns one. */
  removeUngranted(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** Returns some of the records of a kind that own no grant. */
  listUngranted(kind: string): Promise<StoredRecord[]>;
  /** Returns some of the grants that have no usable token or code left. */
  listSpentGrants(expiresBefore: number): Promise<StoredRecord[]>;
  /** Removes some of the expired records and counters, and returns how many. */
  purge(): Promise<number>;
  /** Counts attempts in windows that all processes share. */
  counter: Counter;
  /** Takes back one attempt of the key's latest window. */
  uncount(key: string): Promise<void>;
};

export type Tables = {
  sign_in_records: StoredRecord;
  sign_in_counters: { key: string; count: number; window_ends_at: number };
};

export type Db = Kysely<Tables>;

/** The authorization server's own database, or its own tables in a database of other programs. */
export type OauthStore = {
  read: Db;
  /** Transactions with the same queue run one after the other. */
  transaction<T>(act: (tx: Db) => Promise<T>, queue?: string): Promise<T>;
  /** Runs a transaction whose loss in a power failure is harmless, and which need not wait for the disk. */
  count<T>(act: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Hashes an id. Most ids are tokens of 256 random bits, so they need no salt. */
export const hashId = (id: string): string => hash("sha256", id, "base64url");
