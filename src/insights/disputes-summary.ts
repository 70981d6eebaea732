import { contract } from "../contract/index.ts";
import {
  describePresent,
  DisputeSummaryBody,
  DisputeSummaryFigures,
  DisputeSummaryItem,
  hasDividedGroups,
  orderGroups,
  type DisputeSummary,
  parseDisputeSummary,
} from "../contract/insights/dispute-summary.ts";
import {
  addEmptyBuckets,
  createDisputeGroups,
  listCurrencyTotals,
  listItems,
  listWholeGroups,
  sumCounts,
  toFigures,
} from "./dispute-groups.ts";
import { omitNulls } from "./brief.ts";
import { resolveNames } from "./dispute-names.ts";
import { createFamiliesOf } from "./families.ts";
import { createDocumentReader } from "./document-reader.ts";
import {
  acceptParsed,
  callSummaryPage,
  canSummarize,
  defineInsight,
  type Fields,
  type InsightContext,
  type InsightResult,
  mostItems,
} from "./insight.ts";
import { readMatching } from "./matching-disputes.ts";

/** The documents that are read one by one for the filter on their status. */
const MOST_DOCUMENTS = 500;

/** Adds up every dispute that matches, read in pages. */
const summarizePages = async (
  context: InsightContext,
  summary: DisputeSummary,
): Promise<InsightResult> => {
  const { filters } = summary;
  const { calendar } = context;
  const families = createFamiliesOf(context, filters, summary.groupBy);
  const groups = createDisputeGroups(summary, { calendar, families });
  const totals = createDisputeGroups({ ...summary, groupBy: [] });
  const documents = createDocumentReader(context, MOST_DOCUMENTS);
  const { evaluatedAt, rowCount, truncated, notes } = await readMatching(
    context,
    filters,
    documents,
    {
      families,
      match(standing) {
        groups.add(standing);
        totals.add(standing);
      },
    },
  );
  const total = sumCounts(totals.counts);
  addEmptyBuckets(groups);
  const items = await listItems(groups, summary);
  const currencyTotals = await listCurrencyTotals(totals);
  return {
    asOf: evaluatedAt.name,
    filter: filters,
    rowCount,
    truncated,
    currencyTotals,
    itemsTotal: groups.index.size,
    notes: [...notes, ...describePresent(summary), ...documents.notes()],
    ...toFigures(total),
    ...(hasDividedGroups(summary, currencyTotals.length)
      ? { groups: orderGroups(await listWholeGroups(groups, items), summary) }
      : {}),
    items,
  };
};

const NO_OLDEST =
  "Groups are without their oldest dispute to fit. A limit above 20 shows it, or triage by age.";

/** Gives groups without what takes most of their place and is seldom read. */
function* shortenGroups(items: readonly Fields[]): Generator<{ items: Fields[]; note: string }> {
  yield {
    items: items.map(({ oldest: _oldest, ...group }) => omitNulls(group)),
    note: NO_OLDEST,
  };
}

export const disputesSummary = defineInsight({
  name: "disputes_summary",
  title: "Summarize disputes",
  input: DisputeSummaryBody.omit({ offset: true }),
  figures: DisputeSummaryFigures,
  item: DisputeSummaryItem.partial({ oldest: true, avgAgeDays: true, avgDaysToClose: true }),
  shortenItems: shortenGroups,
  needs: [contract.disputes.list],
  async run(context, args) {
    const parsed = acceptParsed(parseDisputeSummary({ ...args, offset: context.skip }));
    const summary = { ...parsed, limit: mostItems(context, parsed.limit) };
    const { disputes } = contract;
    const { orderBy } = summary;
    if (!canSummarize(context, disputes.summary, args)) return summarizePages(context, summary);
    // The operation finds nothing where a name is unknown; an insight refuses it.
    const names = await resolveNames(context, summary.filters);
    const result = await callSummaryPage(context, disputes.summary, { ...args, orderBy });
    if (result === undefined) return summarizePages(context, summary);
    return { ...result, notes: [...result.notes, ...names.notes] };
  },
});
