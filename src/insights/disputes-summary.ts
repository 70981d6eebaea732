import { contract } from "../contract/index.ts";
import {
  DisputeSummaryBody,
  DisputeSummaryItem,
  type DisputeSummary,
  parseDisputeSummary,
} from "../contract/insights/dispute-summary.ts";
import { acceptParsed } from "./accept-parsed.ts";
import {
  addEmptyBuckets,
  createDisputeGroups,
  listCurrencyTotals,
  listItems,
  sumCounts,
  toFigures,
} from "./dispute-groups.ts";
import { createDocumentReader } from "./document-reader.ts";
import { defineInsight, type InsightContext, type InsightResult } from "./insight.ts";
import { readMatching } from "./matching-disputes.ts";

/** The documents that are read one by one for the filter on their status. */
const MOST_DOCUMENTS = 100;

/** Adds up every dispute that matches, read in pages. */
const summarizePages = async (
  context: InsightContext,
  summary: DisputeSummary,
): Promise<InsightResult> => {
  const { filters } = summary;
  const groups = createDisputeGroups(summary);
  const totals = createDisputeGroups({ ...summary, groupBy: [] });
  const documents = createDocumentReader(context, MOST_DOCUMENTS);
  const { moment, rowCount, truncated, notes } = await readMatching(context, filters, documents, {
    match(standing) {
      groups.add(standing);
      totals.add(standing);
    },
  });
  const total = sumCounts(totals.counts);
  addEmptyBuckets(groups);
  return {
    asOf: moment.name,
    filter: filters,
    rowCount,
    truncated,
    currencyTotals: await listCurrencyTotals(totals),
    itemsTotal: groups.index.size,
    notes: [...notes, ...documents.notes()],
    ...toFigures(total),
    items: await listItems(groups, summary),
  };
};

export const disputesSummary = defineInsight({
  name: "disputes_summary",
  title: "Summarize disputes",
  input: DisputeSummaryBody,
  item: DisputeSummaryItem,
  needs: [contract.disputes.list],
  run: async (context, args) => summarizePages(context, acceptParsed(parseDisputeSummary(args))),
});
