import { contract } from "../../contract/index.ts";
import type { ProblemDetails } from "../../contract/errors.ts";
import { type CallArguments, parsePathParameters } from "../../contract/operation.ts";
import { isInsightTool, type Tool } from "../../../tools/tool.ts";
import { parseDisputeCode } from "../../insights/dispute-code.ts";
import { sanitizeLine } from "./sanitize.ts";
import type { RefusalCode } from "./refusal.ts";

type Step = string | ((tool: Tool, details: ProblemDetails, args: CallArguments) => string);

/** The tools that list the records of an argument, by its name without Id, Code or Email. */
const LISTS: Record<string, string> = {
  assignee: "assignees_list",
  category: "categories_list",
  department: "departments_list",
  reason: "reasons_list",
  externalReason: "reasons_list",
  defaultInternalReason: "reasons_list",
  defaultExternalReason: "reasons_list",
  resolution: "resolutions_list",
  schedule: "schedules_list",
  user: "users_list",
};

const listFor = (field: string): string | undefined => {
  const noun = field.replace(/(Id|Code|Email)$/, "");
  return Object.hasOwn(LISTS, noun) ? LISTS[noun] : undefined;
};

const CORRECT = "Correct what is named and call again.";

/** Faults in what was sent; where a record was named that does not exist, what shows those that do. */
const correct: Step = (_tool, { errors = [] }) => {
  const unknown = errors.filter(({ code }) => code === "unknown_reference");
  const [list] = unknown.flatMap(({ field }) => listFor(field) ?? []);
  return list === undefined
    ? CORRECT
    : `Correct what is named and call again; ${list} shows what exists.`;
};

/** Whether a tool takes the id of a record of a dispute, such as a note, which may be what is missing. */
const isWithinDispute = (tool: Tool): boolean =>
  !isInsightTool(tool) && parsePathParameters(tool.operation.path).at(-1) !== "disputeId";

/** A dispute code that no dispute has: its document may have others. */
const byCode = (tool: Tool, { disputeId }: CallArguments): string | undefined => {
  if (isWithinDispute(tool)) return undefined;
  const documentNumber = typeof disputeId === "string" ? parseDisputeCode(disputeId) : undefined;
  if (documentNumber === undefined) return undefined;
  const quoted = JSON.stringify(sanitizeLine(documentNumber, 100));
  return `No dispute has this code; disputes_list with DocumentNumber ${quoted} shows those of the document.`;
};

/** The tool that finds records by what people call them. */
const FINDER = "find_records";

// Lists for tools whose noun has no list tool.
const LIST_OF: Record<string, string> = {
  company_scores: "credit_applications_list",
  export_runs: "schedules_list",
};

/** The noun of an operation's tool; an insight has none. */
const nounOf = (tool: Tool): string =>
  isInsightTool(tool) ? "" : (tool.operation.id.split(".")[0] ?? "");

const accessOf = (tool: Tool): string | undefined =>
  isInsightTool(tool) ? tool.insight.needs[0]?.access : tool.operation.access;

const check: Step = (tool, _details, args) => {
  if (isInsightTool(tool)) {
    return tool.name === FINDER
      ? "Check the identifiers."
      : `Check the identifiers; ${FINDER} finds records by number, code or name.`;
  }
  const code = byCode(tool, args);
  if (code !== undefined) return code;
  const noun = nounOf(tool);
  const list = sibling(tool, "list") ?? LIST_OF[noun];
  return list === undefined || list === tool.name
    ? "Check the identifiers."
    : `Check the identifiers; ${list} shows what exists.`;
};

/** The tool that lists or reads the noun of a tool, where there is one. */
const sibling = (tool: Tool, verb: "get" | "list"): string | undefined => {
  const noun = nounOf(tool);
  const operations: Record<string, unknown> = Object.hasOwn(contract, noun)
    ? contract[noun as keyof typeof contract]
    : {};
  return Object.hasOwn(operations, verb) ? `${noun}_${verb}` : undefined;
};

const seconds = (count: number): string => (count === 1 ? "1 second" : `${count} seconds`);

const wait = ({ retryAfterSeconds }: ProblemDetails): string =>
  retryAfterSeconds === undefined
    ? "Wait a minute, then call again."
    : `Wait ${seconds(retryAfterSeconds)}, then call again.`;

const look = (tool: Tool): string => {
  const name = sibling(tool, "list") ?? sibling(tool, "get");
  return name === undefined || name === tool.name ? "look whether it was" : `look with ${name}`;
};

/** Describes the next step if it is unknown whether the platform has acted. */
const settle = (tool: Tool, { idempotencyKey }: ProblemDetails): string =>
  idempotencyKey === undefined
    ? `It may have been done: ${look(tool)} before calling again.`
    : `It may have been done: ${look(tool)}, or call again with idempotencyKey ${idempotencyKey}, which does nothing twice.`;

const MISCONFIGURED =
  "The person must correct the server's settings or the platform's certificate; `receivables-mcp doctor` says what is wrong.";

const passing: Step = (tool, details) => {
  if (details.misconfigured === true) return MISCONFIGURED;
  return details.uncertain === true ? settle(tool, details) : wait(details);
};

const readAgain = (tool: Tool): string => {
  const name = sibling(tool, "get");
  return `Read the record again${name === undefined ? "" : ` with ${name}`}`;
};

const REREAD: Step = (tool) => `${readAgain(tool)}, then decide again.`;

const CREDENTIAL =
  "The person must renew the credential in the server's configuration; `receivables-mcp doctor` says which.";

/** Names what renews a refused credential, where its origin is known. */
const renew = (_tool: Tool, { remedy }: ProblemDetails): string =>
  remedy === undefined ? CREDENTIAL : `Tell the person: ${remedy}`;

const UNCONFIGURED =
  "Tell the person which settings the message names; other tools may work without them.";

/** The code of an update that would lose a part of a stored text. */
export const TEXT_INCOMPLETE = "text_incomplete";

/** Describes how to add to a text that cannot be written back whole. */
const append = (tool: Tool): string =>
  nounOf(tool) === "dispute_notes"
    ? "Add the new text by itself with dispute_notes_create, or send a text of its own that has no words of this one."
    : "Let a person change this text, or send a text of its own that has no words of this one; notes take additions.";

const STEPS: Record<RefusalCode, Step> = {
  invalid_request: correct,
  invalid_json: "Call again; if it happens once more, tell the person.",
  invalid_parameter: (_tool, { errors }) =>
    errors?.some(({ field }) => field === "cursor") === true
      ? "Send nextCursor with the arguments of the call that gave it, or start again without cursor."
      : CORRECT,
  unauthenticated: (tool, details) =>
    details.unconfigured === true ? UNCONFIGURED : renew(tool, details),
  token_expired: "Call auth_login, then call again; if that is refused, tell the person.",
  key_expired: renew,
  forbidden_tenant:
    "The person must configure a tenant that the credential may use; `receivables-mcp doctor` names them.",
  forbidden_permission: (tool, { permission }) =>
    `An administrator must grant "${permission ?? accessOf(tool) ?? ""}" to the user or key; other tools may work.`,
  signed_url_refused: "Call again to get a newly signed URL.",
  storage_quota_exceeded:
    "Tell the person: files must be deleted, or an administrator must raise the tenant's quota.",
  not_found: check,
  method_not_allowed: "Tell the person: the platform does not offer this.",
  idempotency_in_progress: (_tool, details) => wait(details),
  idempotency_key_reused: "Send another idempotencyKey, or none.",
  idempotency_secret_shown_once:
    "The record exists; delete it by its id and create another if its secret is lost.",
  validation_failed: correct,
  precondition_failed: (tool) => `${readAgain(tool)}, and send its etag as ifMatch.`,
  range_not_satisfiable: "Request a range within the file.",
  length_required: "Tell the person: server and platform do not fit together.",
  payload_too_large: "Send less in one call.",
  unsupported_media_type: "Tell the person: server and platform do not fit together.",
  rate_limited: (_tool, details) => wait(details),
  internal: (tool, details) =>
    details.uncertain === true
      ? settle(tool, details)
      : "Call again once; if it fails again, tell the person.",
  unavailable: passing,
  invalid_credentials: (_tool, { remedy }) =>
    remedy === undefined
      ? "The person must correct e-mail and password in the server's configuration."
      : `Tell the person: ${remedy}`,
  ambiguous_reason_code: "Send categoryCode or categoryId too, or reasonId instead of the code.",
  conflict: (tool, { errors }) => {
    if (errors?.some(({ code }) => code === TEXT_INCOMPLETE) === true) return append(tool);
    const name = sibling(tool, "get");
    return name === undefined
      ? "Settle what is named, then call again."
      : `Settle what is named, or read the record again with ${name} and decide again.`;
  },
  gone: "Take a newer run; export_runs_status shows them.",
  duplicate_code: "Choose another code, or change the record that has it.",
  in_use: "Deactivate it instead (active false) where it has that, or leave it.",
  invalid_transition: "Reopen the dispute first (status 0), then set the status.",
  account_already_exists: "Use accounts_update to change it or accounts_replace to replace it.",
  document_already_exists: "Use documents_update to change it or documents_replace to replace it.",
  note_reference_already_exists: "Choose another reference; account_notes_get shows a note.",
  document_already_closed: REREAD,
  account_not_found: "Check account_number.",
  document_not_found: "Check document_number.",
  note_not_found: "Check account_number and reference.",
  attachment_not_found: "Check the id; document_attachments_list shows what exists.",
  declined: "Do not repeat it; ask the person in words what they want instead.",
  confirmation_required:
    "Ask the person; if they agree, make the same call with this confirmationToken.",
  confirmation_invalid:
    "Call without confirmationToken to get a new one, and ask the person again.",
  sign_in_required: "Leave it to the person, and do not repeat the call.",
  confirmation_unavailable: "Tell the person: it needs a host that can ask, or another setting.",
};

/** Returns the next step for the caller; `args` are the arguments of the call. */
export const nextStep = (
  code: RefusalCode,
  tool: Tool | null,
  details: ProblemDetails,
  args: CallArguments = {},
): string => {
  const step = STEPS[code];
  if (typeof step === "string") return step;
  return tool === null ? CORRECT : step(tool, details, args);
};
