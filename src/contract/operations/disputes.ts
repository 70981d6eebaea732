import { z } from "zod";
import { boundFaults } from "../faults.ts";
import {
  AccountNumber,
  alternative,
  Amount,
  auditFields,
  bodyPaging,
  CodeText,
  DisputeStatus,
  DocumentNumber,
  paging,
  PositiveAmount,
  RecordId,
  RecordNumber,
  requiredText,
  requiredUnless,
  sortBy,
  parseStatusWord,
  tenantPath,
  text,
  Timestamp,
} from "../fields.ts";
import { CurrencyCode } from "../ingest-fields.ts";
import { Day } from "../insights/arguments.ts";
import { DisputeActivity } from "../insights/dispute-activity.ts";
import { FAMILY_ADDITIONS } from "../insights/families.ts";
import { DisputeSummaryBody, DisputeSummaryResult } from "../insights/dispute-summary.ts";
import { TriageFacts, TriageFigures, TriagePageBody } from "../insights/dispute-triage.ts";
import { ChangesBody, ChangesPage } from "../insights/changes.ts";
import { Precedents } from "../insights/precedents.ts";
import { type Outcome, defineOperations } from "../operation.ts";

const id = z.string().nullable();

/** A customer's claim that part or all of a document's open balance is not owed. */
export const Dispute = z.object({
  disputeId: z.string(),
  disputeCode: z.string(),
  tenantId: z.string(),
  categoryId: z.string(),
  categoryName: z.string(),
  externalReasonCategoryId: id,
  externalReasonCategoryName: id,
  reasonId: z.string(),
  reasonName: z.string(),
  externalReasonId: id,
  externalReasonName: id,
  assigneeId: id,
  assigneeName: id,
  departmentId: id,
  departmentName: id,
  status: DisputeStatus,
  amount: Amount,
  isValid: z.boolean(),
  resolutionId: id,
  resolutionCode: id,
  closedDate: Timestamp.nullable(),
  platformAccountId: id,
  documentNumber: z.string(),
  poNumber: id,
  accountNumber: z.string(),
  accountName: id.optional(),
  userId: id.meta({ description: "user id of the assignee" }),
  currencyCode: z.string(),
  originSystem: z.string(),
  ...auditFields,
});
export type Dispute = z.infer<typeof Dispute>;

/** A part of a worklist: disputes that need attention, the first ones first. */
const TriageResult = TriageFigures.extend({
  items: z.array(TriageFacts.extend({ dispute: Dispute, activity: DisputeActivity })),
});
export type TriageResult = z.infer<typeof TriageResult>;

const WithoutAccountName = Dispute.omit({ accountName: true });

const reason = {
  reasonId: alternative(RecordId).describe("own reason"),
  reasonCode: alternative(CodeText).describe("own reason"),
  externalReasonId: alternative(RecordId).describe("customer's reason"),
  externalReasonCode: alternative(CodeText).describe("customer's reason"),
  categoryId: alternative(RecordId).meta({ description: "if reason codes are ambiguous" }),
  categoryCode: alternative(CodeText).describe("if reason codes are ambiguous"),
};

const REASONS = ["reasonId", "reasonCode", "externalReasonId", "externalReasonCode"] as const;

type ReasonNames = Partial<Record<keyof typeof reason, string | null | undefined>>;

const hasReason = (body: ReasonNames): boolean => REASONS.some((name) => body[name] !== undefined);

const hasCategory = ({ categoryId, categoryCode }: ReasonNames): boolean =>
  categoryId !== undefined || categoryCode !== undefined;

const REASON_NEEDED = requiredUnless("reasonId", `one of ${REASONS.slice(1).join(", ")}`);

export const DISPUTE_SORT = [
  "CreateDate",
  "UpdateDate",
  "ClosedDate",
  "Amount",
  "DisputeCode",
  "DocumentNumber",
  "AccountNumber",
  "Status",
  "ReasonName",
  "CategoryName",
  "DepartmentName",
  "AssigneeName",
] as const;

/** Filters of the list beyond the documented ones; days are inclusive, in UTC. */
const listAdditions = {
  AccountName: requiredText(500).optional().meta({ description: "part of it" }),
  DisputeCode: RecordNumber.optional(),
  CurrencyCode: CurrencyCode.optional(),
  AmountMin: Amount.optional(),
  AmountMax: Amount.optional(),
  CreateDateFrom: Day.optional(),
  CreateDateTo: Day.optional(),
  ClosedDateFrom: Day.optional(),
  ClosedDateTo: Day.optional(),
  Unassigned: z.boolean().optional(),
};

const one = z.object({ ...tenantPath, disputeId: RecordId });
const STATUS_CHANGE_ACTIONS = ["dispute.reopened", "dispute.closed", "dispute.canceled"] as const;

const parseStatus = (body: unknown): unknown =>
  typeof body === "object" && body !== null && "status" in body
    ? parseStatusWord(body.status)
    : undefined;

// Sending the current status is not a status change, so the action is dispute.updated.
const deriveUpdateAction = ({ body, before }: Outcome): string => {
  const status = parseStatus(body);
  const move =
    typeof status === "number" && status !== before ? STATUS_CHANGE_ACTIONS[status] : undefined;
  return move ?? "dispute.updated";
};

/** The fields of a dispute in a tool's list, unless the call names others. */
const DEFAULT_FIELDS = [
  "disputeId",
  "disputeCode",
  "status",
  "amount",
  "currencyCode",
  "accountNumber",
  "accountName",
  "documentNumber",
  "reasonName",
  "assigneeName",
  "createDate",
] as const satisfies readonly (keyof Dispute)[];

const list = { defaultFields: DEFAULT_FIELDS };

const LOOKUP_STATUS = ["Open", "Closed", "Cancel", "All"] as const;

const parseLookupStatus = (value: unknown): unknown => {
  const status = parseStatusWord(value);
  if (status === 0 || status === 1 || status === 2) return LOOKUP_STATUS[status];
  return typeof status === "string" && status.toLowerCase() === "all" ? "All" : status;
};

const DISPUTES = "/dispute/v1/tenants/{tenantId}/disputes";
const BY_DOCUMENTS =
  "/dispute/v1/tenants/{tenantId}/accounts/{accountNumber}/disputes/by-document-numbers";

/** A question about disputes, which the interface documents do not have. */
const question = {
  method: "POST",
  access: "Dispute Management : READ",
  effect: "read",
  params: z.object(tenantPath),
  extension: true,
} as const;

export const disputes = defineOperations("gateway", "disputes", {
  get: {
    method: "GET",
    path: `${DISPUTES}/{disputeId}`,
    access: "Dispute Management : READ",
    summary: "Read one dispute.",
    params: one,
    output: Dispute,
    audit: "dispute.read",
  },
  list: {
    method: "GET",
    path: DISPUTES,
    access: "Dispute Management : READ",
    summary: "List disputes, filtered and sorted; all of them unless paged.",
    params: z.object(tenantPath),
    query: z.strictObject({
      ReasonName: requiredText(500).optional().meta({ description: "part of it" }),
      DepartmentName: requiredText(500).optional().meta({ description: "part of it" }),
      CategoryName: requiredText(500).optional().meta({ description: "part of it" }),
      Status: z.array(boundFaults(DisputeStatus)).min(1).optional().describe("any of; absent: all"),
      AssigneeId: RecordId.optional().describe("who works on it"),
      DepartmentId: RecordId.optional().describe("of the assignee"),
      DocumentNumber: DocumentNumber.optional(),
      AccountNumber: AccountNumber.optional(),
      ...listAdditions,
      Sort: sortBy(DISPUTE_SORT).optional(),
      ...paging,
    }),
    additions: { name: "filters", query: Object.keys(listAdditions) },
    output: z.array(Dispute),
    list,
    audit: "dispute.listed",
  },
  create: {
    method: "POST",
    path: DISPUTES,
    access: "Dispute Management : CREATE",
    summary: "Open a dispute on a document of an account.",
    params: z.object(tenantPath),
    body: z
      .object({
        amount: PositiveAmount.describe("greater than 0, in the document's currency"),
        accountNumber: AccountNumber,
        documentNumber: DocumentNumber,
        ...reason,
        assigneeId: text(128)
          .nullable()
          .optional()
          .describe("who works on it; default by category"),
        poNumber: text(128).nullable().optional().describe("customer's purchase order"),
      })
      .refine(hasReason, REASON_NEEDED),
    output: Dispute,
    errors: ["ambiguous_reason_code"],
    audit: "dispute.created",
  },
  update: {
    method: "PUT",
    path: `${DISPUTES}/{disputeId}`,
    access: "Dispute Management : UPDATE",
    summary: "Update the given fields of a dispute; status closes, cancels or reopens it.",
    params: one,
    body: z
      .object({
        amount: PositiveAmount.optional().describe("greater than 0, in the dispute's currency"),
        ...reason,
        externalReasonId: RecordId.nullable().optional().describe("customer's reason; null clears"),
        assigneeId: text(128).nullable().optional().meta({ description: "empty clears" }),
        assigneeEmail: text(254).trim().nullable().optional().meta({ description: "empty clears" }),
        poNumber: text(128)
          .nullable()
          .optional()
          .describe("customer's purchase order; null clears"),
        status: z
          .preprocess(parseStatusWord, DisputeStatus)
          .optional()
          .describe("closes, cancels or reopens"),
        resolutionId: RecordId.nullable().optional().describe("with status Closed"),
        resolutionCode: CodeText.nullable().optional().describe("with status Closed"),
        isValid: z.boolean().optional().describe("the claim is justified"),
      })
      // A category only selects among reasons with equal codes: alone it would be ignored silently.
      .refine((body) => hasReason(body) || !hasCategory(body), REASON_NEEDED),
    output: WithoutAccountName,
    errors: ["conflict", "invalid_transition", "ambiguous_reason_code"],
    effects: [
      { kind: "closes", target: "dispute", when: ({ status }) => parseStatusWord(status) === 1 },
      { kind: "cancels", target: "dispute", when: ({ status }) => parseStatusWord(status) === 2 },
      { kind: "revises", target: "dispute", when: ({ amount }) => amount !== undefined },
    ],
    audit: {
      actions: ["dispute.updated", ...STATUS_CHANGE_ACTIONS],
      choose: deriveUpdateAction,
    },
  },
  delete: {
    method: "DELETE",
    path: `${DISPUTES}/{disputeId}`,
    access: "Dispute Management : DELETE",
    summary: "Delete a dispute created in error, with notes and files. Close a real one instead.",
    params: one,
    output: null,
    effects: [{ kind: "deletes", target: "dispute" }],
    audit: "dispute.deleted",
  },
  summary: {
    ...question,
    path: `${DISPUTES}/summary`,
    summary: "Count and add up disputes, in groups.",
    body: DisputeSummaryBody,
    lateValidation: true,
    output: DisputeSummaryResult,
    additions: { name: "groups", query: FAMILY_ADDITIONS },
    audit: "dispute.summarized",
  },
  triage: {
    ...question,
    path: `${DISPUTES}/triage`,
    summary: "Rank disputes by what needs attention first.",
    body: TriagePageBody,
    output: TriageResult,
    audit: "dispute.triage_read",
  },
  activity: {
    ...question,
    path: `${DISPUTES}/activity`,
    summary: "Tell what happened last to given disputes; unknown ids are omitted.",
    body: z.object({
      disputeIds: z
        .array(boundFaults(RecordId))
        .min(1)
        .max(1000)
        .meta({ description: "ids of disputes" }),
    }),
    output: z.array(DisputeActivity),
    audit: "dispute.activity_read",
  },
  changes: {
    ...question,
    path: `${DISPUTES}/changes`,
    summary: "List changes of disputes, their notes and files, and their documents.",
    body: ChangesBody,
    output: ChangesPage,
    audit: "dispute.changes_read",
  },
  precedents: {
    ...question,
    path: `${DISPUTES}/precedents`,
    summary: "Tell how disputes with the reason of one dispute ended within 24 months.",
    body: z.object({ disputeId: RecordId }),
    output: Precedents,
    audit: "dispute.precedents_read",
  },
  list_by_document_numbers: {
    method: "GET",
    path: BY_DOCUMENTS,
    aliases: [{ method: "POST", path: BY_DOCUMENTS }],
    access: "Dispute Management : READ",
    summary: "List disputes on given documents of one account.",
    params: z.object({ ...tenantPath, accountNumber: AccountNumber }),
    body: z.object({
      status: z
        .preprocess(parseLookupStatus, z.enum(LOOKUP_STATUS))
        .optional()
        .meta({ description: "Open, Closed, Canceled or All (default)" }),
      documentNumbers: z
        .array(boundFaults(RecordNumber))
        .min(1)
        .max(1000)
        .describe("at most 1,000"),
      ...bodyPaging,
    }),
    output: z.array(WithoutAccountName),
    list,
    lookup: { argument: "documentNumbers", field: "documentNumber" },
    audit: "dispute.looked_up",
  },
  list_by_ids: {
    method: "GET",
    path: `${DISPUTES}/by-dispute-ids`,
    aliases: [{ method: "POST", path: `${DISPUTES}/by-dispute-ids` }],
    access: "Dispute Management : READ",
    summary: "List disputes by ids; unknown ids are omitted.",
    params: z.object(tenantPath),
    body: z.object({
      disputeIds: z
        .array(boundFaults(RecordId))
        .min(1)
        .max(1000)
        .describe("ids or codes, at most 1,000"),
      ...bodyPaging,
    }),
    output: z.array(WithoutAccountName),
    list,
    lookup: { argument: "disputeIds", field: "disputeId" },
    audit: "dispute.looked_up",
  },
});
