import { fold } from "../engine/fold.ts";
import type { AuditLogRow } from "../tables/schema.ts";

/** Ids, counts and short words. */
export type Metadata = Record<string, string | number | boolean | null>;

export type NewEntry = {
  tenantId: string;
  id: string;
  at: number;
  method: string;
  endpoint: string;
  /** Null for an entry from before actions had names. */
  action: string | null;
  statusCode: number;
  metadata: Metadata;
};

const SEARCHED = ["scheduleId", "webhookId", "runId", "source", "mcpTool", "status"];

const SEPARATOR = "\u001f";

/** Text without the separator of the searched values, so that no match spans two of them. */
export const removeSeparator = (text: string): string => text.replaceAll(SEPARATOR, " ");

/** Returns the columns for searching. They are derived from the entry, so verification can check them. */
export const toSearchColumns = ({
  endpoint,
  action,
  metadata,
}: Pick<NewEntry, "endpoint" | "action" | "metadata">): Pick<
  AuditLogRow,
  "schedule_id" | "search"
> => {
  let search = removeSeparator(endpoint) + SEPARATOR + removeSeparator(action ?? "");
  for (const key of SEARCHED) {
    const value = metadata[key] ?? "";
    search += SEPARATOR + (value === "" ? "" : removeSeparator(String(value)));
  }
  // Folded at once: no letter joins with the separator.
  return { schedule_id: metadata["scheduleId"]?.toString() ?? null, search: fold(search) };
};
