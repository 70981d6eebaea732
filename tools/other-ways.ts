/** Replacements for tools that do not exist, because callers guess names. */
const TOOLS: Readonly<Record<string, string>> = {
  disputes_close: "disputes_update with status Closed",
  disputes_cancel: "disputes_update with status Canceled",
  disputes_reopen: "disputes_update with status Open",
  disputes_assign: "disputes_update with assigneeId or assigneeEmail",
  disputes_add_note: "dispute_notes_create",
  disputes_search: "disputes_list",
  disputes_bulk_update: "disputes_apply",
  disputes_update_many: "disputes_apply",
  disputes_create_many: "disputes_open",
  disputes_bulk_create: "disputes_open",
  claims_open: "disputes_open",
  disputes_attach: "dispute_attachments_upload",
  dispute_files_upload: "dispute_attachments_upload",
  documents_delete: "documents_close",
  documents_reopen: "documents_update with a denomination other than 0",
  payments_list: "payments_query",
  payments_search: "payments_query",
  payments_get: "payments_query with a filter on paymentId",
  export_runs_list: "export_runs_status",
  users_get: "users_list",
};

type Ways = Readonly<Record<string, string>>;

const DEPARTMENT = "a dispute has the department of its assignee; set assigneeId or assigneeEmail";
const STATUS = "disputes_update sets the status of a dispute";
const NOTE = "dispute_notes_create adds a note";
const FILE = "dispute_attachments_upload adds a file";

const CREATED: Ways = {
  departmentId: DEPARTMENT,
  departmentCode: DEPARTMENT,
  note: NOTE,
  notes: NOTE,
  comment: NOTE,
  content: NOTE,
  file: FILE,
  attachment: FILE,
};

const DOCUMENT_STATUS =
  "documents_close closes a document, and a denomination other than 0 reopens it";

/** Filters of insights, by the names that a list of disputes would have for them. */
const FILTERED: Ways = Object.fromEntries(
  [
    "accountName",
    "currencyCode",
    "amountMin",
    "amountMax",
    "createDateFrom",
    "createDateTo",
    "createdFrom",
    "createdTo",
    "closedDateFrom",
    "closedDateTo",
    "closedFrom",
    "closedTo",
    "olderThanDays",
    "unassigned",
  ].flatMap((name) => {
    const way = "disputes_triage lists and disputes_summary adds up disputes by it";
    return [name, `${name[0]?.toUpperCase()}${name.slice(1)}`].map((one) => [one, way]);
  }),
);

const BY_CODE = "disputes_get takes a code as disputeId";

/** Replacements for arguments that a tool does not have, because callers guess names. */
const ARGUMENTS: Readonly<Record<string, Ways>> = {
  disputes_create: {
    ...CREATED,
    status: STATUS,
    resolutionCode: STATUS,
    resolutionId: STATUS,
    assigneeEmail: "assigneeId names the assignee; assignees_get finds the id by e-mail",
  },
  disputes_update: {
    ...CREATED,
    closedDate: "the platform sets it when status closes the dispute",
    documentNumber: "a dispute stays on its document; disputes_create opens another one",
    accountNumber: "a dispute stays on its account; disputes_create opens another one",
  },
  disputes_list: {
    ...FILTERED,
    limit: "PageSize limits the rows",
    disputeCode: BY_CODE,
    DisputeCode: BY_CODE,
    disputeId: "disputes_get reads one dispute, disputes_list_by_ids several",
    disputeIds: "disputes_list_by_ids takes them",
    documentNumbers: "disputes_list_by_document_numbers takes them",
  },
  documents_create: { status: DOCUMENT_STATUS },
  documents_update: { status: DOCUMENT_STATUS, closure_reason: DOCUMENT_STATUS },
  documents_replace: { status: DOCUMENT_STATUS },
  payments_query: {
    groupBy: "payments_summarize groups and adds up",
    measures: "payments_summarize groups and adds up",
    orderBy: "payments_summarize orders by value",
  },
};

type Guess = readonly [name: RegExp, way: string];

const SUMMARY = "disputes_summary groups and adds up";
const ORDER: Guess = [/^sort/i, "orderBy orders the items"];

/** Guesses at the conditions on disputes. */
const CONDITIONS: readonly Guess[] = [
  [
    /^(customer|client|buyer|debtor)/i,
    "accountName takes a part of the name, accountNumber numbers",
  ],
  [
    /^(from|to|since|until|start|end|begin|date|day|week|month|quarter|year|period|range)/i,
    "createdFrom and createdTo take days, closedFrom and closedTo the days of closing",
  ],
  [/^min/i, "amountMin takes the smallest amount"],
  [/^max/i, "amountMax takes the largest amount"],
  [/^(filter|where|condition)/i, "each condition is an argument of its own"],
  [/^(stale|inactive|lastUpdate|notUpdated)/i, "updatedBefore takes the last day of an update"],
  ORDER,
];

const OF_LIST: readonly Guess[] = [...CONDITIONS, [/^(group|measure|aggregat)/i, SUMMARY]];

/** Replacements for arguments of insights by the beginning of their names. */
const GUESSES: Readonly<Record<string, readonly Guess[]>> = {
  disputes_summary: [
    ...CONDITIONS,
    [/^(measure|aggregat|metric|figure)/i, "every item has count, amount and the average days"],
  ],
  disputes_triage: OF_LIST,
  payments_match_disputes: OF_LIST,
  payments_summarize: [
    [
      /^(from|to|since|until|start|end|begin|date|day|week|month|quarter|year|period|range|paymentDate)/i,
      'filters take dates: {"paymentDate": {"between": ["2026-01-01", "2026-01-31"]}}',
    ],
    [
      /^(account|payer|document|invoice|payment|currency|status|amount|min|max|short|deduction|customer)/i,
      'conditions are in filters: {"accountNumber": {"eq": "ACC-1"}}',
    ],
    [/^(aggregat|metric|sum|count)/i, 'measures: [{"op": "sum", "field": "paymentAmount"}]'],
    ORDER,
  ],
  documents_summary: [
    [/^(accountName|customer|client|name)/i, "find_records finds the accountNumber by name"],
    [/^currency/i, 'every item has its currency; groupBy ["currency"] has nothing else'],
    [
      /^(overdue|pastDue|daysPastDue|olderThan|minDays|dueBefore)/i,
      'dueTo takes the last due date; groupBy ["age"] counts days past due',
    ],
    [/^dueAfter/i, "dueFrom takes the first due date"],
    [/^invoice/i, "documents_list has invoice_from and invoice_to; groupBy takes invoice:month"],
    ORDER,
  ],
  find_records: [[/^(q|query|search|name|term|number|code)$/i, "text takes it"]],
  account_overview: [[/^(name|customer|id|number|search|query|text)/i, "account takes it"]],
  dispute_packet: [[/^(id|code|number|dispute)$/i, "disputeId takes it"]],
  documents_list: [[/^(overdue|pastDue|daysPastDue)/i, "due_to takes the last due date"]],
  accounts_list: [[/^(name|accountName|query|text|q)$/i, "search takes a part of name or number"]],
};

const lookUp = (ways: Ways | undefined, name: string): string | undefined =>
  ways !== undefined && Object.hasOwn(ways, name) ? ways[name] : undefined;

/** Returns the tool that does what an unknown tool's name says. */
export const findOtherTool = (name: string): string | undefined => lookUp(TOOLS, name);

/** Returns a sentence on what does the work of an argument that a tool does not have. */
export const findOtherWay = (tool: string, argument: string): string | undefined => {
  const way = lookUp(Object.hasOwn(ARGUMENTS, tool) ? ARGUMENTS[tool] : undefined, argument);
  if (way !== undefined) return way;
  const guesses = Object.hasOwn(GUESSES, tool) ? GUESSES[tool] : undefined;
  return guesses?.find(([name]) => name.test(argument))?.[1];
};
