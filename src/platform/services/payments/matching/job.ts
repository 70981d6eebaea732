import { setImmediate } from "node:timers/promises";
import { type Clock, DAY, formatTimestamp, MINUTE } from "../../../../kit/clock.ts";
import type { NewId } from "../../../../kit/ids.ts";
import type { Job, JobKind } from "../../../jobs/job.ts";
import { appendEntries } from "../../../store/audit/chain.ts";
import { findDocument } from "../../../store/queries/documents.ts";
import { addJobOnce } from "../../../store/queries/jobs.ts";
import { hasWaiting } from "../../../store/queries/payment-matching.ts";
import type { Db, Store } from "../../../store/port.ts";
import type { DocumentRow } from "../../../store/tables/schema.ts";
import { createMatchEntry } from "./audit.ts";
import { listDocumentKeys } from "./ledger.ts";
import { matchSomeWaiting } from "./rematch.ts";

const KIND = "payments.matching";

/** Tenants' ids contain no slash. */
const SLASH = "/";

// SQLite runs a step on the event loop.
const ROWS_PER_STEP = 25;

/** Plans the match of the payments that wait for a document that was saved, if there are any. */
export const planMatching = async (tx: Db, row: DocumentRow, now: number): Promise<void> => {
  const { tenant_id: tenantId, document_number } = row;
  if (!(await hasWaiting(tx, tenantId, listDocumentKeys(row)))) return;
  const id = tenantId + SLASH + document_number;
  await addJobOnce(tx, { kind: KIND, id, tenantId, lane: tenantId, dueAt: now });
};

type Needs = { store: Store; clock: Clock; newId: NewId };

/** Matches some of the payments that wait; finishes the job after the last ones. */
const matchSome = ({ store, clock, newId }: Needs, job: Job, after: number) =>
  store.transaction(async (tx) => {
    const { tenantId } = job;
    const number = job.id.slice(tenantId.length + SLASH.length);
    const row = await findDocument(tx, tenantId, number);
    const at = clock();
    const settling = { tenantId, now: formatTimestamp(at) };
    const { applied, next } =
      row === undefined
        ? { applied: [], next: undefined }
        : await matchSomeWaiting(tx, settling, listDocumentKeys(row), {
            after,
            most: ROWS_PER_STEP,
          });
    if (next === undefined) await job.finish(tx);
    if (applied.length > 0) {
      const made = { tenantId, id: newId(), at, method: "JOB", actor: "service" };
      await appendEntries(tx, store.auditKey, [createMatchEntry({ ...made, paymentIds: applied })]);
    }
    return next;
  }, job.tenantId);

/** Creates the job that matches payments with a document that came after them. */
export const createMatchingJob = (needs: Needs): JobKind => ({
  kind: KIND,
  leaseMs: MINUTE,
  concurrency: 2,
  perLane: 1,
  maxTries: 5,
  retryMs: (tries) => tries * MINUTE,
  async run(job) {
    let after: number | undefined = 0;
    while (after !== undefined) {
      job.signal.throwIfAborted();
      after = await matchSome(needs, job, after);
      await setImmediate();
    }
  },
  giveUp: (job) => needs.store.transaction((tx) => job.repeat(tx, needs.clock() + DAY)),
});
