import { z } from "zod";
import { RecordId, requiredText, tenantPath } from "../src/contract/fields.ts";
import { contract } from "../src/contract/index.ts";
import { defineOperation } from "../src/contract/operation.ts";
import type { Confirmation } from "./tool.ts";

const { update, list } = contract.disputes;

const MAX_CHANGES = 50;

const Change = z.strictObject({
  disputeId: RecordId,
  change: update.body,
  ifMatch: requiredText(255).optional(),
});

/** The outcome for one dispute. */
const Outcome = z.object({
  disputeId: z.string(),
  disputeCode: z.string(),
  outcome: z.enum(["applied", "refused"]),
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
  body: z.object({ changes: z.array(Change).min(1).max(MAX_CHANGES) }),
  output: z.object({ applied: z.int(), refused: z.int(), results: z.array(Outcome) }),
  effects: [{ kind: "closes", target: "disputes" }],
  audit: "dispute.updated",
});

/** The question is a table of the changes, which the tool makes from the records themselves. */
export const bulkConfirmation: Confirmation = { reads: {}, question: () => null };
