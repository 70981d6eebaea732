import { setImmediate } from "node:timers/promises";
import type { NewId } from "../../kit/ids.ts";
import { type ConfirmationWay, isConfirmationWay } from "../../contract/confirmation.ts";
import { type Operation, type Outcome, parsePathParameters } from "../../contract/operation.ts";
import { appendEntries, removeChain } from "../store/audit/chain.ts";
import type { NewEntry } from "../store/audit/entries.ts";
import { type Db, type Store, TenantPaused } from "../store/port.ts";

/** Writes the tenants' audit logs. */
export type Audit = {
  /** Appends within the transaction of the change. */
  append(tx: Db, entry: NewEntry): Promise<void>;
  /**
   * Appends in a transaction of its own, together with other entries that arrive meanwhile; resolves after the commit.
   * An entry without a tenant is written and removed again: it takes as long as any other, so that the time of a failed
   * login does not tell whether the e-mail address exists.
   *
   * @throws {TenantPaused} for the entries of a paused tenant; those of other tenants are written
   */
  record(entry: NewEntry): Promise<void>;
};

const MOST_TURNS = 50;
const NO_TENANT = "";

/** Writes a batch of entries; those without a tenant are removed again. */
const write = async ({ auditKey }: Store, tx: Db, batch: readonly NewEntry[]): Promise<void> => {
  await appendEntries(tx, auditKey, batch);
  if (batch.some(({ tenantId }) => tenantId === NO_TENANT)) await removeChain(tx, NO_TENANT);
};

export const createAudit = (store: Store): Audit => {
  let waiting: NewEntry[] = [];
  let next: Promise<ReadonlySet<string>> | undefined;
  const take = (): NewEntry[] => {
    const batch = waiting;
    waiting = [];
    next = undefined;
    return batch;
  };
  // Waits as long as more entries arrive at each turn of the event loop; a single entry waits for one turn.
  const gather = async (): Promise<void> => {
    for (let turn = 0, seen = 0; turn < MOST_TURNS && waiting.length > seen; turn += 1) {
      seen = waiting.length;
      await setImmediate();
    }
  };
  /** Writes the entries of a batch without those of paused tenants, and returns these tenants. */
  const writeOthers = async (batch: NewEntry[], first: TenantPaused): Promise<Set<string>> => {
    const paused = new Set([first.tenantId]);
    for (;;) {
      const others = batch.filter(({ tenantId }) => !paused.has(tenantId));
      if (others.length === 0) return paused;
      try {
        await store.append((tx) => write(store, tx, others));
        return paused;
      } catch (error) {
        if (!(error instanceof TenantPaused)) throw error;
        paused.add(error.tenantId);
      }
    }
  };
  // The batch is taken when its transaction begins, so entries that arrive during the previous commit share it.
  const commit = async (): Promise<ReadonlySet<string>> => {
    await gather();
    let batch: NewEntry[] | undefined;
    try {
      await store.append(async (tx) => {
        batch = take();
        await write(store, tx, batch);
      });
    } catch (error) {
      if (batch !== undefined && error instanceof TenantPaused) return writeOthers(batch, error);
      // If no batch began, all waiting entries fail with this one, and the next entry starts a new batch.
      if (batch === undefined) take();
      throw error;
    }
    return new Set();
  };
  return {
    append: (tx, entry) => appendEntries(tx, store.auditKey, [entry]),
    async record(entry) {
      waiting.push(entry);
      next ??= commit();
      const { tenantId } = entry;
      if ((await next).has(tenantId)) throw new TenantPaused(tenantId);
    },
  };
};

const TOOL = /^[a-z0-9_.-]{1,64}$/;

/** Returns the MCP tool that a request names; any other text is dropped. */
export const parseTool = (header: string | undefined): string | undefined =>
  header !== undefined && TOOL.test(header) ? header : undefined;

/** Returns how a person confirmed a change; any other text is dropped. */
export const parseConfirmedBy = (header: string | undefined): ConfirmationWay | undefined =>
  header !== undefined && isConfirmationWay(header) ? header : undefined;

const LONGEST_ID = 128;

const EXPORT_BASE = "/api/v1/remittance-export";

/** Returns the route template for the log; export routes have no base. */
export const formatEndpoint = (operation: Operation): string =>
  operation.service === "export" && operation.path.startsWith(EXPORT_BASE)
    ? operation.path.slice(EXPORT_BASE.length)
    : operation.path;

/** The parameters that identify a record; a code or an e-mail address is text of people. */
const IDENTIFYING = /Id$|Number$|_number$|^id$|^reference$/;
const KEPT = /Id$|Number$|_number$|^source$|^status$|^address$|^former|^changed$/;

/** Returns a caller's text as every database stores it: PostgreSQL refuses U+0000 and replaces half characters. */
const toStorable = (text: string): string =>
  text.slice(0, LONGEST_ID).replaceAll("\0", "\ufffd").toWellFormed();

type RecordFacts = Pick<EntryFacts, "resourceId" | "createdId" | "pathParams">;

/** The parameter of a path that names a record, and whether the path ends with it. */
type Named = { name: string | undefined; isLast: boolean };

const named = new Map<string, Named>();

const findNamed = (path: string): Named => {
  const known = named.get(path);
  if (known !== undefined) return known;
  const name = parsePathParameters(path).findLast(
    (parameter) => parameter !== "tenantId" && IDENTIFYING.test(parameter),
  );
  const found = { name, isLast: path.endsWith(`{${name}}`) };
  named.set(path, found);
  return found;
};

/** Returns the id of the record that a request created, or that its path names, else of the one above it. */
const findResourceId = (
  { path }: Operation,
  { resourceId, createdId, pathParams }: RecordFacts,
): string | undefined => {
  if (resourceId !== undefined) return resourceId;
  const { name, isLast } = findNamed(path);
  const id = name === undefined ? undefined : pathParams[name];
  return isLast ? id : (createdId ?? id);
};

/** Returns the metadata of an audit entry: ids, numbers of records, counts and the tool, but no text that people wrote. */
const buildMetadata = (operation: Operation, { params, ...facts }: EntryFacts) => {
  const metadata: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(params)) {
    if (KEPT.test(name) && name !== "tenantId") metadata[name] = toStorable(String(value));
  }
  const resourceId = findResourceId(operation, facts);
  if (resourceId !== undefined) metadata["resourceId"] = toStorable(resourceId);
  if (facts.actor !== undefined) metadata["actor"] = facts.actor;
  if (facts.rowCount !== undefined) metadata["rowCount"] = facts.rowCount;
  if (facts.tool !== undefined) metadata["mcpTool"] = facts.tool;
  const isToolChange = facts.tool !== undefined && operation.effect !== "read";
  if (isToolChange && facts.confirmedBy !== undefined) {
    metadata["confirmedBy"] = facts.confirmedBy;
  }
  return metadata;
};

export type EntryFacts = {
  tenantId: string;
  at: number;
  method: string;
  tool: string | undefined;
  /** The way in which a person confirmed the change that the tool makes. */
  confirmedBy: ConfirmationWay | undefined;
  /** The id of the user or key. */
  actor: string | undefined;
  resourceId?: string | undefined;
  createdId?: string | undefined;
  pathParams: Record<string, string>;
  /** Values that the metadata may name, by the names of parameters. */
  params: Record<string, unknown>;
  outcome: Outcome;
  rowCount: number | undefined;
};

const chooseAction = ({ audit }: Operation, outcome: Outcome): string =>
  typeof audit === "string" ? audit : audit.choose(outcome);

/** Builds the audit entry of a request. */
export const buildEntry = (operation: Operation, facts: EntryFacts, newId: NewId): NewEntry => ({
  tenantId: facts.tenantId,
  id: newId(),
  at: facts.at,
  method: facts.method,
  endpoint: formatEndpoint(operation),
  action: chooseAction(operation, facts.outcome),
  statusCode: facts.outcome.status,
  metadata: buildMetadata(operation, facts),
});
