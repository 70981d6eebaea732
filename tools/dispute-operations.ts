import { z } from "zod";
import {
  Amount,
  NoteVisibility,
  RecordId,
  RecordNumber,
  requiredText,
  shownProperties,
  tenantPath,
} from "../src/contract/fields.ts";
import { contract } from "../src/contract/index.ts";
import { Currency } from "../src/contract/insights/arguments.ts";
import { disputeFilters } from "../src/contract/insights/dispute-filters.ts";
import { defineOperation } from "../src/contract/operation.ts";
import {
  DisputeAttachment,
  LocalFileName,
} from "../src/contract/operations/dispute-attachments.ts";
import type { Confirmation } from "./tool.ts";

const { dispute_attachments: files } = contract;
const SOURCES = ["text", "base64", "path"] as const;

const disputeParams = z.object({ disputeId: RecordId });

const UploadBody = z
  .object({
    fileName: LocalFileName,
    text: z.string().optional().describe("content; or send base64 or path"),
    base64: z.base64().optional().describe("content; or send text or path"),
    path: z.string().min(1).max(4096).optional().describe("local file in an allowed folder"),
    visibility: NoteVisibility.optional(),
  })
  .superRefine((body, context) => {
    if (SOURCES.filter((name) => body[name] !== undefined).length === 1) return;
    context.addIssue({
      code: "custom",
      path: ["text"],
      message: "is required unless base64 or path is sent; send exactly one of the three",
      params: { code: "required" },
    });
  });

/** Upload as one operation; the MCP server runs it as create, PUT to the signed URL, and polls for the scan. */
export const uploadFile = defineOperation({
  id: "dispute_attachments.upload",
  service: "gateway",
  method: "POST",
  path: files.create.path,
  access: files.create.access,
  summary: "Attach a file to a dispute and wait for its virus scan.",
  params: disputeParams,
  body: UploadBody,
  output: DisputeAttachment,
  audit: "dispute_attachment.created",
});

/** A downloaded file; the server adds its text. */
const DownloadedFile = z.object({
  fileName: z.string(),
  mimeType: z.string(),
  fileSize: z.int(),
});

/** Download as one operation; the MCP server runs it as get and a download from the signed URL. */
export const downloadFile = defineOperation({
  id: "dispute_attachments.download",
  service: "gateway",
  method: "GET",
  path: files.get.path,
  access: files.get.access,
  summary: "Read a dispute file: text, pictures or the file itself.",
  params: disputeParams.extend({ attachmentId: RecordId.describe("from the list of files") }),
  file: true,
  output: DownloadedFile,
  audit: "dispute_attachment.read",
});

const { create, update, list } = contract.disputes;

export const MAX_CHANGES = 50;

/** Leaves room for the references that follow the note of a claim. */
const MAX_NOTE = 9000;
const NoteText = requiredText(MAX_NOTE).optional().describe("added as an internal note");

const Change = z.strictObject({
  disputeId: RecordId,
  change: update.body.describe("as in disputes_update"),
  note: NoteText,
  ifMatch: requiredText(255).optional().describe("etag that was read"),
});

// A change applies to disputes as they stand now.
const { asOf: _past, ...filters } = disputeFilters;

const Where = z
  .strictObject(filters)
  .describe("in place of changes: filters as in disputes_triage, at most 50 hits")
  .register(shownProperties, {
    status: { type: "string", description: "such as Open" },
    accountNumber: { type: "string", description: "of the customer" },
    accountName: { type: "string", description: "part of it" },
    documentNumber: { type: "string", description: "of the invoice" },
    reason: { type: "string", description: "code or name" },
    assignee: { type: "string", description: "e-mail or name" },
    unassigned: { type: "boolean", description: "without an assignee" },
    amountMax: { type: "number", description: "inclusive" },
    createdFrom: { type: "string", description: "YYYY-MM-DD" },
    createdTo: { type: "string", description: "inclusive" },
    olderThanDays: { type: "number", description: "since creation" },
  });

const ChangeOfAll = update.body
  .strict()
  .describe("with where: as in changes")
  .register(shownProperties, {
    status: { type: "string", description: "such as Closed" },
    resolutionCode: { type: "string", description: "with status Closed" },
  });

const ApplyBody = z
  .object({
    changes: z.array(Change).min(1).max(MAX_CHANGES).optional().describe("at most 50"),
    where: Where.optional(),
    change: ChangeOfAll.optional(),
    note: NoteText,
  })
  .superRefine(({ changes, where, change, note }, context) => {
    const refuse = (name: string, message: string, code = "required"): void =>
      context.addIssue({ code: "custom", path: [name], message, params: { code } });
    if (changes !== undefined) {
      const others = Object.entries({ where, change, note });
      for (const [name] of others.filter(([, value]) => value !== undefined)) {
        refuse(name, "does not go with changes; send changes or where", "conflict");
      }
      return;
    }
    if (where === undefined) refuse("changes", "is required unless where is sent");
    else if (Object.keys(where).length === 0) refuse("where", "must have a filter");
    if (change === undefined) refuse("change", "is required with where");
  });

/** The arguments of a call with defaults, as they were checked. */
export type AppliedChanges = z.output<typeof ApplyBody>;

/** The outcome for one dispute. */
const Outcome = z.object({
  disputeId: z.string(),
  disputeCode: z.string(),
  outcome: z.enum(["applied", "refused"]),
  etag: z.string().optional(),
  dispute: z.record(z.string(), z.unknown()).optional(),
  note: z.enum(["added", "refused"]).optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});

/** Changes of several disputes as one operation; the MCP server runs them one by one after one confirmation. */
export const applyChanges = defineOperation({
  id: "disputes.apply",
  service: update.service,
  method: "POST",
  effect: "change",
  path: list.path,
  access: update.access,
  summary:
    "Change up to 50 disputes as disputes_update does. All are checked first, and a person confirms them at once.",
  params: z.object(tenantPath),
  body: ApplyBody,
  output: z.object({ applied: z.int(), refused: z.int(), results: z.array(Outcome) }),
  effects: [{ kind: "closes", target: "disputes" }],
  audit: "dispute.updated",
});

const Claim = z.strictObject({
  ...create.body.shape,
  // Checked together with the records, so that one refusal names every fault.
  amount: Amount.describe("greater than 0, in the document's currency"),
  currencyCode: Currency.optional().describe("of the document"),
  note: NoteText,
  paymentId: RecordNumber.optional().describe("payment that left the amount out"),
  debitMemo: RecordNumber.optional().describe("customer's number of the deduction"),
});
export type Claim = z.output<typeof Claim>;

/** The outcome for one claim. */
const ClaimOutcome = z.object({
  claim: z.int(),
  outcome: z.enum(["opened", "opened before", "refused"]),
  disputeId: z.string().optional(),
  disputeCode: z.string().optional(),
  etag: z.string().optional(),
  dispute: z.record(z.string(), z.unknown()).optional(),
  note: z.enum(["added", "refused"]).optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});

/** Claims as disputes in one operation; the MCP server opens them one by one after one confirmation. */
export const openClaims = defineOperation({
  id: "disputes.open",
  service: create.service,
  method: "POST",
  path: list.path,
  access: create.access,
  summary:
    "Open up to 50 claims as disputes, such as lines of match_claims. All are checked first, a person confirms them at once, and a repeated call opens nothing twice.",
  params: z.object(tenantPath),
  body: z.object({ claims: z.array(Claim).min(1).max(MAX_CHANGES).describe("at most 50") }),
  output: z.object({
    opened: z.int(),
    openedBefore: z.int(),
    refused: z.int(),
    results: z.array(ClaimOutcome),
  }),
  effects: [{ kind: "opens", target: "disputes" }],
  audit: "dispute.created",
});

/** The question is a table of the changes, which the tool makes from the records themselves. */
export const bulkConfirmation: Confirmation = { reads: {}, question: () => null };
