import { z } from "zod";
import { requiredText, text } from "../../contract/fields.ts";
import { checkValue } from "../services/ingest/body.ts";
import { appendEntries } from "../store/audit/chain.ts";
import type { NewEntry } from "../store/audit/entries.ts";
import type { Store } from "../store/port.ts";
import { findEntries } from "../store/queries/audit-logs.ts";
import { collectFields } from "./fields.ts";
import type { Needs, Outcome, Target } from "./target.ts";

const METADATA_CHARACTERS = 10_000;

const Metadata = z
  .record(text(128), z.union([text(2048), z.number(), z.boolean(), z.null()]))
  .refine((metadata) => JSON.stringify(metadata).length <= METADATA_CHARACTERS, {
    error: `must have at most ${METADATA_CHARACTERS} characters`,
    params: { code: "too_long" },
  });

const Entry = z.object({
  id: requiredText(128),
  method: z.string().regex(/^[A-Z]{1,16}$/, "must be an HTTP method"),
  endpoint: requiredText(2048),
  action: requiredText(128).optional(),
  statusCode: z.int().min(100).max(599),
  metadata: Metadata.optional(),
  tenantId: text(64).optional(),
  timestamp: z.iso.datetime({ offset: true }),
});
type Entry = z.output<typeof Entry>;

const checkEntry = ({ tenantId, clock }: Needs, { tenantId: named, timestamp }: Entry) => [
  ...(named === undefined || named === tenantId
    ? []
    : [{ field: "tenantId", code: "format", message: "is not the tenant of this import" }]),
  ...(Date.parse(timestamp) <= clock()
    ? []
    : [{ field: "timestamp", code: "range", message: "must not be in the future" }]),
];

const toEntry = (tenantId: string, { timestamp, ...entry }: Entry): NewEntry => ({
  tenantId,
  id: entry.id,
  at: Date.parse(timestamp),
  method: entry.method,
  endpoint: entry.endpoint,
  action: entry.action ?? null,
  statusCode: entry.statusCode,
  metadata: entry.metadata ?? {},
});

const buildEntryKey = ({ id, at }: { id: string; at: number }): string => JSON.stringify([id, at]);

const serializeContent = ({ method, endpoint, action, statusCode, metadata }: NewEntry): string =>
  JSON.stringify([method, endpoint, action, statusCode, JSON.stringify(metadata)]);

const CONFLICT: Outcome = [
  { field: "id", code: "conflict", message: "exists in the log with other content, which is kept" },
];

/** Creates the import target of audit entries, identified by id and timestamp. Existing entries are never changed. */
export const createAuditLogTarget = (
  needs: Needs & { store: Pick<Store, "auditKey"> },
): Target<Entry> => ({
  kind: "audit-logs",
  fields: collectFields(Entry),
  batchRows: 500,
  parse(record) {
    const result = checkValue(Entry, record);
    const faults = result.value === undefined ? [] : checkEntry(needs, result.value);
    return faults.length === 0 ? result : { faults };
  },
  identify: ({ values }) => {
    const entry = toEntry(needs.tenantId, values);
    return { field: "id", key: buildEntryKey(entry), facts: [serializeContent(entry)] };
  },
  async write(tx, rows) {
    const { tenantId } = needs;
    const entries = rows.map(({ values }) => toEntry(tenantId, values));
    const found = await findEntries(tx, tenantId, entries);
    const known = new Map(found.map((entry) => [buildEntryKey(entry), serializeContent(entry)]));
    const fresh: NewEntry[] = [];
    const outcomes = entries.map((entry): Outcome => {
      const content = serializeContent(entry);
      const before = known.get(buildEntryKey(entry));
      if (before !== undefined) return before === content ? "unchanged" : CONFLICT;
      known.set(buildEntryKey(entry), content);
      fresh.push(entry);
      return "written";
    });
    await appendEntries(tx, needs.store.auditKey, fresh);
    return outcomes;
  },
});
