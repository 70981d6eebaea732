import {
  EXTENSION_ID,
  RESOURCE_MIME_TYPE,
  RESOURCE_URI_META_KEY,
} from "@modelcontextprotocol/ext-apps/server";
import { isRecord } from "../kit/json.ts";

export const VIEW_TYPE = RESOURCE_MIME_TYPE;

/** An interactive page (MCP Apps) that a host shows for the results of some tools. */
export type View = {
  /** The name of its entry point in `app/`, and of its file in the package. */
  name: string;
  uri: string;
  title: string;
  description: string;
  /** The tools whose results it shows; the first one fills it at its start. */
  shows: readonly [string, ...string[]];
  /** The other tools that it calls. It hides what needs a tool that the server does not have. */
  calls: readonly string[];
};

export const CONFIRM_URI = "ui://receivables/confirm.html";

/** The tool by which a view tells the person's answer; no model has its ticket. */
export const CONFIRM_TOOL = "confirm_call";

export const VIEWS: readonly View[] = [
  {
    name: "dispute-board",
    uri: "ui://receivables/dispute-board.html",
    title: "Dispute board",
    description: "Ranked worklist of disputes with aging, filters, details and actions.",
    shows: ["disputes_triage", "dispute_packet"],
    calls: [
      "dispute_attachments_download",
      "disputes_summary",
      "find_records",
      "account_overview",
      "documents_get",
      "disputes_list",
      "disputes_update",
      "disputes_apply",
      "dispute_notes_create",
      "assignees_list",
      "resolutions_list",
    ],
  },
  {
    name: "payment-explorer",
    uri: "ui://receivables/payment-explorer.html",
    title: "Payment explorer",
    description: "Payments added up by a grouping of choice, with the rows behind each figure.",
    shows: ["payments_summarize"],
    calls: ["payments_query"],
  },
  {
    name: "account-sheet",
    uri: "ui://receivables/account-sheet.html",
    title: "Account sheet",
    description: "One customer: open documents, disputes, payments, credit and notes.",
    shows: ["account_overview"],
    calls: [
      "documents_summary",
      "find_records",
      "dispute_packet",
      "dispute_attachments_download",
      "documents_get",
      "disputes_list",
      "disputes_update",
      "dispute_notes_create",
      "assignees_list",
    ],
  },
  // For the results of every tool that asks: `withConfirmView` names it there.
  {
    name: "confirm",
    uri: CONFIRM_URI,
    title: "Please confirm",
    description: "The question that a person answers before a tool closes, deletes or replaces.",
    shows: [CONFIRM_TOOL],
    calls: [],
  },
];

/** The entry point in `app/` of the page on which the HTTP server shows the views. */
export const SITE_ENTRY = "site.tsx";

const byTool = new Map(VIEWS.flatMap((view) => view.shows.map((tool) => [tool, view] as const)));

/** Returns the `_meta` that names a view; hosts of 2025 read the second key. */
export const toViewMeta = (uri: string): Record<string, unknown> => ({
  ui: { resourceUri: uri },
  [RESOURCE_URI_META_KEY]: uri,
});

/** Returns the `_meta` by which hosts find the view of a tool. */
export const viewMetaOf = (tool: string): Record<string, unknown> | undefined => {
  const view = byTool.get(tool);
  return view && toViewMeta(view.uri);
};

/** The extensions by which a client announces that it shows views. */
export const VIEWS_SUPPORT = { [EXTENSION_ID]: { mimeTypes: [VIEW_TYPE] } };

/** Whether the capabilities of a client announce that it shows views. */
export const canShowViews = (capabilities: unknown): boolean => {
  const extensions = isRecord(capabilities) ? capabilities["extensions"] : undefined;
  const support = isRecord(extensions) ? extensions[EXTENSION_ID] : undefined;
  const types = isRecord(support) ? support["mimeTypes"] : undefined;
  return Array.isArray(types) && types.includes(VIEW_TYPE);
};
