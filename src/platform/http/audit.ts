import { setImmediate } from "node:timers/promises";
import type { NewId } from "../../kit/ids.ts";
import type { Operation, Outcome } from "../../contract/operation.ts";
import { appendEntries } from "../store/audit-chain.ts";
import type { NewEntry } from "../store/audit-entries.ts";
import type { Db, Store } from "../store/port.ts";

/** Writes the tenants' audit logs. */
export type Audit = {
  /** In the transaction of the change it tells of. */
  append(tx: Db, entry: NewEntry): Promise<void>;
  /** Alone, together with whatever else arrives meanwhile; resolves once it is committed. */
  record(entry: NewEntry): Promise<void>;
};

const MOST_TURNS = 50;

export const createAudit = (store: Store): Audit => {
  let waiting: NewEntry[] = [];
  let next: Promise<void> | undefined;
  const take = (): NewEntry[] => {
    const batch = waiting;
    waiting = [];
    next = undefined;
    return batch;
  };
  // As long as more arrive at each turn of the loop, the next one is worth waiting for; who is alone waits for one.
  const gathered = async (): Promise<void> => {
    for (let turn = 0, seen = 0; turn < MOST_TURNS && waiting.length > seen; turn += 1) {
      seen = waiting.length;
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await setImmediate();
    }
  };
  // The batch is taken when its transaction begins, so all that arrives while another one commits shares it.
  const commit = async (): Promise<void> => {
    await gathered();
    let batch: NewEntry[] | undefined;
    try {
      await store.transaction((tx) => {
        batch = take();
        return appendEntries(tx, store.auditKey, batch);
      });
    } catch (error) {
      // Where none began, all that waits for it fails with it, and whatever comes next tries anew.
      if (batch === undefined) take();
      throw error;
    }
  };
  return {
    append: (tx, entry) => appendEntries(tx, store.auditKey, [entry]),
    record(entry) {
      waiting.push(entry);
      next ??= commit();
      return next;
    },
  };
};

const TOOL = /^[a-z0-9_.-]{1,64}$/;

/** The MCP tool a request names; anything that is no tool's name is dropped. */
export const toolOf = (header: string | undefined): string | undefined =>
  header !== undefined && TOOL.test(header) ? header : undefined;

const EXPORT_BASE = "/api/v1/remittance-export";

/** The route template as the log shows it: export routes without their base. */
export const endpointOf = (operation: Operation): string =>
  operation.service === "export" && operation.path.startsWith(EXPORT_BASE)
    ? operation.path.slice(EXPORT_BASE.length)
    : operation.path;

const KEPT = /Id$|^source$|^status$/;

/** What the log keeps of a request: ids, counts and the tool, never what people wrote. */
const metadataOf = (
  params: Record<string, unknown>,
  facts: { tool: string | undefined; userId: string | undefined; rowCount: number | undefined },
): Record<string, string | number> => {
  const metadata: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(params)) {
    if (KEPT.test(name) && name !== "tenantId") metadata[name] = String(value).slice(0, 128);
  }
  if (facts.userId !== undefined) metadata["userId"] = facts.userId;
  if (facts.rowCount !== undefined) metadata["rowCount"] = facts.rowCount;
  if (facts.tool !== undefined) metadata["mcpTool"] = facts.tool;
  return metadata;
};

export type EntryFacts = {
  tenantId: string;
  at: number;
  method: string;
  tool: string | undefined;
  userId: string | undefined;
  params: Record<string, unknown>;
  outcome: Outcome;
  rowCount: number | undefined;
};

/** The entry of a request to an operation. */
export const entryOf = (operation: Operation, facts: EntryFacts, newId: NewId): NewEntry => ({
  tenantId: facts.tenantId,
  id: newId(),
  at: facts.at,
  method: facts.method,
  endpoint: endpointOf(operation),
  action: typeof operation.audit === "string" ? operation.audit : operation.audit(facts.outcome),
  statusCode: facts.outcome.status,
  metadata: metadataOf(facts.params, facts),
});
