import { beforeAll, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { platformOperations } from "../../src/contract/index.ts";
import type { CallArguments, Operation } from "../../src/contract/operation.ts";
import type { InsightResult } from "../../src/insights/insight.ts";
import { insightTools } from "../../tools/insights.ts";
import { createRecords } from "../mcp/each-tool.ts";
import { INSIGHT_SAMPLES } from "../support/insight-samples.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { load } from "../support/payment-rows.ts";
import { onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "rights";
const EXTENSIONS = platformOperations.filter(({ extension }) => extension).map(({ id }) => id);

/** Arguments with which each insight reads all that it can read. */
const ARGS: Record<string, (records: Records) => CallArguments> = {
  ...INSIGHT_SAMPLES,
  disputes_summary: () => ({ documentStatus: "open", reason: "canary" }),
};

/** Without an answer: the operation is all that the answer is made of. */
const REFUSED = "refused";

/** What changes in an answer, or in its items, if an operation is refused. Everything else stays. */
const CHANGES: Record<string, Record<string, readonly string[] | typeof REFUSED>> = {
  find_records: {
    "accounts.get": [],
    "accounts.list": [],
    "disputes.list": ["rowCount", "itemsTotal", "items"],
    "disputes.get": [],
    "disputes.summary": [],
    "payments.query": [],
    "documents.get": ["rowCount", "itemsTotal", "items"],
    "documents.list": [],
  },
  account_overview: {
    "accounts.get": ["account", "notes", "notesTotal"],
    "accounts.list": [],
    "documents.list": ["openDocuments"],
    "disputes.list": ["disputes"],
    "payments.query": ["payments"],
    "credit_applications.list": ["credit"],
    "company_scores.get": ["credit"],
  },
  account_statement: {
    "accounts.get": [],
    "accounts.list": [],
    "documents.list": REFUSED,
    "documents.get": ["truncated", "rowCount", "itemsTotal", "items", "balances", "currencyTotals"],
    "disputes.list": ["truncated", "balances"],
    "disputes.list (extensions)": ["balances"],
    "payments.query": ["truncated", "itemsTotal", "items"],
    "audit_logs.list": [],
  },
  dispute_packet: {
    "disputes.get": REFUSED,
    "documents.get": ["document"],
    "dispute_notes.list": ["notes", "notesTotal"],
    "users.list": ["notes"],
    "accounts.get": ["accountNotes", "accountNotesTotal"],
    "documents.list": ["creditNotes"],
    "dispute_attachments.list": ["files", "filesTotal"],
    "payments.query": ["payments"],
    "disputes.list": ["otherDisputes"],
    "disputes.list (documented operations)": ["otherDisputes", "precedents"],
    "disputes.precedents": ["precedents"],
    "assignees.list": [],
    "resolutions.list": ["resolutions"],
  },
  receivables_kpis: {
    "documents.summary": ["rowCount", "currencyTotals", "itemsTotal", "items"],
    "disputes.list": ["rowCount", "itemsTotal", "items"],
    "audit_logs.list": ["reason"],
    "payments.query": [],
  },
  documents_summary: { "documents.summary": REFUSED },
  credit_queue: { "credit_applications.list": REFUSED },
  disputes_summary: {
    "disputes.list": REFUSED,
    "disputes.summary": REFUSED,
    "documents.get": REFUSED,
    "reasons.list": [],
  },
  disputes_triage: {
    "disputes.list": REFUSED,
    "disputes.triage": REFUSED,
    // Notes and files are read one by one instead.
    "disputes.activity": [],
    "assignees.list": [],
    "documents.get": ["flags", "documentStatus"],
    "dispute_notes.list": ["lastNote"],
    "dispute_attachments.list": ["attachments"],
  },
  deductions_without_dispute: {
    "payments.query": REFUSED,
    "disputes.list": REFUSED,
    "reasons.list": [],
  },
  match_claims: {
    "documents.get": ["document", "doubts", "openDisputes"],
    "documents.lookup": ["document", "doubts", "openDisputes"],
    "accounts.get": [],
    "disputes.list": ["openDisputes", "doubts"],
    "payments.query": [],
    "reasons.list": [],
  },
  payments_match_disputes: { "disputes.list": REFUSED, "payments.query": REFUSED },
  payments_summarize: { "payments.query": REFUSED, "payments.summary": REFUSED },
  changes_since: {
    "disputes.list": REFUSED,
    "disputes.list_by_ids": REFUSED,
    // The audit log is read instead.
    "disputes.changes": [],
    "audit_logs.list": ["counts", "rowCount", "itemsTotal", "items"],
    "payments.query": ["counts", "rowCount", "itemsTotal", "items"],
    "credit_applications.list": ["counts", "rowCount", "itemsTotal", "items"],
    "schedules.list": ["counts"],
    "export_runs.status": ["counts"],
    "users.list": ["by"],
    "assignees.list": [],
  },
  export_health: {
    "schedules.list": REFUSED,
    "webhooks.list": ["webhooks", "undelivered", "stalledDeliveries"],
    "webhooks.list_deliveries": ["undelivered", "stalledDeliveries"],
    "export_runs.status": ["failing", "finding", "nextStep", "lastRun", "failedRuns"],
  },
};

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const listChanged = (a: CallArguments, b: CallArguments): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => !isEqual(a[name], b[name]));

/** The fields of an answer that changed; of items that are still the same ones, their fields. */
const listChanges = (part: InsightResult, whole: InsightResult): string[] => {
  const outside = listChanged(part, whole).filter((name) => name !== "notes");
  if (!outside.includes("items") || part.items.length !== whole.items.length) return outside;
  const inside = part.items.flatMap((item, place) => listChanged(item, whole.items[place] ?? {}));
  return [...outside.filter((name) => name !== "items"), ...new Set(inside)];
};

onEveryStore("an insight without a right", (at) => {
  let full: TestContext;
  let weak: TestContext;
  let records: Records;
  beforeAll(async () => {
    const admin = await at().tenant(TENANT);
    records = await createRecords({ at: at(), tenantId: TENANT, admin }, "asked");
    const { accountNumber, documentNumber } = records.dispute;
    const payment = { id: "p", paymentId: "p", currencyCode: "USD", accountNumber, documentNumber };
    const paid = { ...payment, paymentDate: "2026-03-01", paymentAmount: 7, appliedAmount: 7 };
    await load(at(), TENANT, "cashapp", [paid]);
    full = await createTestContext(at(), TENANT, admin);
    const powerless = await at().person(TENANT, { grants: [] });
    weak = await createTestContext(at(), TENANT, powerless, { scopes: ["export:manage"] });
  });

  /** Runs an insight whose calls of some operations come from a caller without rights. */
  const runWithout = (
    name: string,
    extensions: ReadonlySet<string>,
    isRefused: (operation: Operation) => boolean,
  ): Promise<InsightResult> => {
    const insight = insightTools.find((tool) => tool.name === name)?.insight;
    if (insight === undefined) throw new Error(name);
    const call: TestContext["call"] = (operation, args) =>
      (isRefused(operation) ? weak : full).call(operation, args);
    const args = ARGS[name]?.(records) ?? {};
    return runInsight(insight, { ...full, extensions, call }, args);
  };

  const allOf = async (name: string, extensions: ReadonlySet<string>) => {
    full.calls.length = 0;
    const whole = await runWithout(name, extensions, () => false);
    const ids = new Set(full.calls);
    return { whole, used: platformOperations.filter(({ id }) => ids.has(id)) };
  };

  const ways = Object.keys(CHANGES).flatMap((name) => [
    ...(name === "documents_summary" ? [] : [[name, "documented operations", []] as const]),
    [name, "extensions", EXTENSIONS] as const,
  ]);

  it("has a row for every insight", () => {
    expect(Object.keys(CHANGES).toSorted()).toEqual(
      insightTools.map(({ name }) => name).toSorted(),
    );
  });

  verifies("IN-41", "IN-33");
  it.each(ways)(
    "%s names it for each refused operation, and gives the rest (%s)",
    async (name, way, ids) => {
      const extensions = new Set(ids);
      const { whole, used } = await allOf(name, extensions);
      for (const { id, access } of used) {
        const part = await runWithout(name, extensions, (one) => one.id === id).catch(
          (error: unknown) => error,
        );
        const expected = CHANGES[name]?.[`${id} (${way})`] ?? CHANGES[name]?.[id];
        if (part instanceof Problem) {
          expect([id, expected, part.details.permission]).toEqual([id, REFUSED, access]);
          continue;
        }
        const given = part as InsightResult;
        expect([id, listChanges(given, whole).toSorted()]).toEqual([
          id,
          Array.isArray(expected) ? expected.toSorted() : expected,
        ]);
        // These need the right of the list too, and what they give is read in another way.
        const isNamed =
          name === "find_records"
            ? id !== "disputes.summary"
            : !["accounts.list", "disputes.activity", "disputes.changes"].includes(id);
        if (isNamed) {
          expect(`${id}: ${JSON.stringify(given)}`).toContain(`\\"${access}\\"`);
        }
      }
    },
  );

  it.each(ways)(
    "%s answers or names it for each missing right as a whole (%s)",
    async (name, _way, ids) => {
      const extensions = new Set(ids);
      const { whole, used } = await allOf(name, extensions);
      for (const right of new Set(used.map(({ access }) => access))) {
        const refused = used.filter(({ access }) => access === right).map(({ id }) => id);
        const part = await runWithout(name, extensions, ({ id }) => refused.includes(id)).catch(
          (error: unknown) => error,
        );
        const changes = refused.map((id) => CHANGES[name]?.[id]);
        if (part instanceof Problem) {
          expect([changes.includes(REFUSED), part.details.permission]).toEqual([true, right]);
          continue;
        }
        const given = part as InsightResult;
        expect(changes.flat()).toEqual(expect.arrayContaining(listChanges(given, whole)));
        expect(JSON.stringify(given)).toContain(`\\"${right}\\"`);
      }
    },
  );
});
