import { Problem } from "../contract/errors.ts";
import { contract } from "../contract/index.ts";
import {
  DocumentSummaryBody,
  DocumentSummaryItem,
  parseDocumentSummary,
} from "../contract/insights/document-summary.ts";
import { acceptParsed, callSummary, defineInsight } from "./insight.ts";

const { documents } = contract;

const NOT_OFFERED =
  "This platform does not list documents, so they cannot be added up. account_overview and dispute_packet read one account or dispute; documents_get reads one document.";

/** Receivables by days past due, account and dates, on platforms that can list documents. */
export const documentsSummary = defineInsight({
  name: "documents_summary",
  title: "Summarize documents",
  input: DocumentSummaryBody,
  item: DocumentSummaryItem,
  needs: [documents.summary],
  async run(context, args) {
    acceptParsed(parseDocumentSummary(args));
    if (!context.extensions.has(documents.summary.id))
      throw new Problem("method_not_allowed", NOT_OFFERED);
    return callSummary(context, documents.summary, args);
  },
});
