import { findHeader } from "./headers.ts";
import {
  type Fault,
  Problem,
  type ProblemDetails,
  type SharedErrorCode,
} from "../../contract/errors.ts";
import { formatFaults } from "../../contract/faults.ts";
import type { Operation } from "../../contract/operation.ts";
import type { Call, Principal, Result } from "../handlers.ts";
import type { Db } from "../store/port.ts";
import {
  buildAuditEntry,
  isAudited,
  type RequestContext,
  type RequestNeeds,
  type Terms,
} from "./context.ts";
import { rollBack } from "../roll-back.ts";
import { toReply } from "./reply.ts";
import { VIEW_MS } from "./stream.ts";

const MAX_FAULTS_IN_MESSAGE = 10;

const createInvalid = ({ service }: Operation, errors: Fault[]): never => {
  const more = errors.length - MAX_FAULTS_IN_MESSAGE;
  const message = formatFaults(errors.slice(0, MAX_FAULTS_IN_MESSAGE));
  throw new Problem(
    service === "ingest" ? "validation_failed" : "invalid_request",
    more > 0 ? `${message} And ${more} more.` : message,
    { errors },
  );
};

/** Thrown out of the handler of a dry run once its change was rolled back: nothing that follows the change may happen. */
export class Rehearsed extends Error {}

/** Creates `call.change` of a dry run: every rule of the change is checked, and nothing is written. */
const createRehearsal =
  ({ store }: RequestNeeds, context: RequestContext): Call["change"] =>
  async (act, tenantId = context.tenantId) => {
    await rollBack(store, act, tenantId);
    throw new Rehearsed();
  };

/**
 * Creates `call.change`: a transaction that also writes the audit entry and the answer for the Idempotency-Key.
 * `onAudited` is called when the entry is committed.
 */
const createChange =
  (
    needs: RequestNeeds,
    context: RequestContext,
    terms: Terms,
    onAudited: () => void,
  ): Call["change"] =>
  async <R extends Result<unknown>>(
    act: (tx: Db) => Promise<R>,
    tenantId = context.tenantId,
  ): Promise<R> => {
    const { store, audit, idempotency, newId } = needs;
    let audited = false;
    const result = await store.transaction(async (tx) => {
      const changed = await act(tx);
      const { status, headers, body, audit: facts } = toReply(context, terms, changed);
      const { createdId } = changed;
      const outcome = { status, createdId, facts: { tenantId, ...facts } };
      if (terms.keyed !== undefined && createdId !== undefined) {
        await idempotency.store(tx, terms.keyed, { output: body, headers, recordId: createdId });
      }
      const entry = buildAuditEntry(context, newId, outcome);
      audited = isAudited(needs, context, entry.tenantId);
      // Last, because it locks the tenant's head row.
      if (audited) await audit.append(tx, entry);
      return changed;
    }, tenantId);
    if (audited) onAudited();
    return result;
  };

/** Creates the second argument of a handler. */
export const createCall = (
  needs: RequestNeeds,
  context: RequestContext,
  terms: Terms,
  onAudited: () => void,
): Call => {
  const { operation, request, tenantId } = context;
  return {
    caller: context.caller as Principal,
    tenantId,
    now: context.now,
    ip: context.ip,
    origin: context.origin,
    ifMatch: findHeader(request, "if-match") ?? null,
    ifNoneMatch: findHeader(request, "if-none-match") ?? null,
    baseUrl: () => needs.baseUrlOf(request, context.incoming),
    db: needs.store.read,
    snapshot: (options) =>
      needs.store.snapshot({
        ...options,
        owner: tenantId,
        signal: request.signal,
        maxMs: VIEW_MS,
      }),
    change: context.dryRun
      ? createRehearsal(needs, context)
      : createChange(needs, context, terms, onAudited),
    fail(code: SharedErrorCode, message: string, details: ProblemDetails = {}) {
      throw new Problem(code, message, details);
    },
    refuse: (field: string, code: Fault["code"], message: string) =>
      createInvalid(operation, [{ field, code, message }]),
    invalid: (errors) => createInvalid(operation, errors),
  };
};
