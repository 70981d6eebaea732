import type { CommandAction } from "../../contract/audit-actions.ts";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { appendEntries } from "../store/audit/chain.ts";
import type { Metadata } from "../store/audit/entries.ts";
import type { Db, Store } from "../store/port.ts";

/** The principal of administrative commands in the records that they change. */
export const OPERATOR = { id: "admin" };

/** A change by the command line, for the audit log of its tenant. */
export type CommandChange = {
  tenantId: string;
  action: CommandAction;
  /** Id of the record that was created, changed or deleted. */
  resourceId?: string;
  /** Ids, counts and short words, but no secret and no personal data. */
  metadata?: Metadata;
};

/** Writes the audit entry of a change in its transaction. Call it last, because it locks the end of the tenant's log. */
export type RecordChange = (tx: Db, change: CommandChange) => Promise<void>;

type Needs = {
  store: Pick<Store, "auditKey">;
  clock: Clock;
  newId: NewId;
  /** The user of the operating system. */
  operator: string;
};

export const createRecordChange =
  ({ store: { auditKey }, clock, newId, operator }: Needs): RecordChange =>
  (tx, { tenantId, action, resourceId, metadata = {} }) =>
    appendEntries(tx, auditKey, [
      {
        tenantId,
        id: newId(),
        at: clock(),
        method: "CLI",
        endpoint: action.slice(0, action.indexOf(".")),
        action,
        statusCode: 200,
        metadata: {
          ...metadata,
          ...(resourceId === undefined ? {} : { resourceId }),
          actor: operator,
        },
      },
    ]);
