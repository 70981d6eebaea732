import { duplicates, heldByInactive, totals, unassignedAndOld } from "./analysis.ts";
import { OPEN, type Picks, type Work } from "./look.ts";
import { type AuditEntry, AuditPage, type Configuration, Dispute } from "./records.ts";
import type { Call } from "./transcript.ts";
import { count, moneys } from "./words.ts";

/** Lists again and sets what there is beside what there was. */
export const compare = async (
  { session, out, now }: Work,
  before: { open: readonly Dispute[]; picks: Picks },
  { assignees }: Configuration,
): Promise<void> => {
  out.begin("result", "Look again");
  const { items: open } = await session.all("disputes_list", { ...OPEN }, Dispute);
  const { picks } = before;
  const rows: [string, number, number][] = [
    ["open disputes", before.open.length, open.length],
    ["unassigned for over 30 days", picks.unassigned.length, unassignedAndOld(open, now).length],
    ["with somebody inactive", picks.orphaned.length, heldByInactive(open, assignees).length],
    ["entered twice", picks.pairs.length, duplicates(open).length],
  ];
  out.table(["", "Before", "After"], rows, [1, 2]);
  out.say(`Open now: ${moneys(totals(open))}.`);
  out.result({
    rows: rows.map(([what, was, is]) => ({ what, before: was, after: is })),
    totals: totals(open),
  });
  out.end();
};

const auditPages = async ({ session }: Work): Promise<AuditEntry[]> => {
  const args = { limit: 500, fields: ["action", "statusCode", "metadata"] };
  let { data, pagination } = await session.call("audit_logs_list", args, AuditPage);
  const entries = [...data];
  while (pagination.hasMore && pagination.cursor !== null) {
    const { cursor } = pagination;
    ({ data, pagination } = await session.call("audit_logs_list", { ...args, cursor }, AuditPage));
    entries.push(...data);
  }
  return entries;
};

const belongs = (entry: AuditEntry, { tool, arguments: args }: Call): boolean =>
  entry.metadata.mcpTool === tool &&
  entry.statusCode < 400 &&
  (args["disputeId"] === undefined || entry.metadata["disputeId"] === args["disputeId"]);

/** Returns the calls without an audit entry of their own. */
const unlogged = (calls: readonly Call[], entries: readonly AuditEntry[]): Call[] => {
  const left = new Set(entries);
  return calls.filter((call) => {
    const own = [...left].find((entry) => belongs(entry, call));
    if (own !== undefined) left.delete(own);
    return own === undefined;
  });
};

/** Checks that the tenant's audit log has an entry for every call of this session. */
export const checkAudit = async (work: Work): Promise<void> => {
  const { session, out } = work;
  out.begin("audit", "Find every step in the tenant's audit log");
  const before = [...session.calls];
  const entries = await auditPages(work);
  const tools = Map.groupBy(before, ({ tool }) => tool);
  const rows = [...tools].map(([tool, calls]) => {
    const own = entries.filter((entry) => entry.metadata.mcpTool === tool);
    const actions = new Set(own.flatMap(({ action }) => action ?? []));
    return { tool, calls: calls.length, entries: own.length, actions: [...actions] };
  });
  out.table(
    ["Tool", "Calls", "Entries", "Actions"],
    rows.map((row) => [row.tool, row.calls, row.entries, row.actions.join(", ")]),
    [1, 2],
  );
  const missing = unlogged(before, entries);
  if (missing.length > 0) {
    throw new Error(`${count(missing.length, "call")} not in the audit log: ${missing[0]?.tool}`);
  }
  out.say(`All ${count(before.length, "call")} are there; a long list can take several requests.`);
  out.result({ tools: rows, entries: entries.length, missing: 0 });
  out.end();
};
