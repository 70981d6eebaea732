import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import {
  DocumentSummaryBody,
  DocumentSummaryItem,
  parseDocumentSummary,
} from "../contract/insights/document-summary.ts";
import {
  acceptParsed,
  callSummaryPage,
  canSummarize,
  defineInsight,
  listAdded,
} from "./insight.ts";

const { documents } = contract;

const NOT_OFFERED =
  "This platform does not list documents, so they cannot be added up. account_overview and dispute_packet read one account or dispute; documents_get reads one document.";

const describeUnknown = (names: readonly string[]): string =>
  `This platform adds up documents, but does not know ${names.join(", ")}. Leave these out, or group by account and name account numbers.`;

const FIRST_ONLY =
  "This platform gives only the first groups. Ask for a higher limit, or narrow the filters.";

/** Receivables by days past due, account and dates, on platforms that can list documents. */
export const documentsSummary = defineInsight({
  name: "documents_summary",
  title: "Summarize documents",
  input: DocumentSummaryBody.omit({ offset: true }),
  item: DocumentSummaryItem,
  needs: [documents.summary],
  async run(context, args) {
    const { orderBy } = acceptParsed(parseDocumentSummary({ ...args, offset: context.skip }));
    if (!context.extensions.has(documents.summary.id))
      throw new Problem("method_not_allowed", NOT_OFFERED);
    const { additions: added } = documents.summary;
    if (!canSummarize(context, documents.summary, args))
      throw new Problem("method_not_allowed", describeUnknown(listAdded(added, args)));
    const result = await callSummaryPage(context, documents.summary, { ...args, orderBy });
    if (result === undefined) throw new Problem("method_not_allowed", FIRST_ONLY);
    return result;
  },
});
