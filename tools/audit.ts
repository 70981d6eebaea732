import { COMMAND_ACTIONS } from "../src/contract/audit-actions.ts";
import { contract, operations } from "../src/contract/index.ts";
import { STATUS_CHANGE_ACTIONS } from "../src/contract/operations/disputes.ts";
import { defineTool } from "./tool.ts";

/** Every action of the audit log, those that follow from the outcome of a request included. */
const ACTIONS: readonly string[] = [
  ...new Set([
    ...operations.flatMap(({ audit }) => (typeof audit === "string" ? [audit] : [])),
    "dispute.updated",
    ...STATUS_CHANGE_ACTIONS,
    "account.replaced",
    "document.replaced",
    "audit.sealed",
    "auth.logged_in",
    "auth.login_failed",
    "auth.password_changed",
    "auth.password_reset",
    "dispute_attachment.uploaded",
    "payments.matched",
    ...COMMAND_ACTIONS,
  ]),
].toSorted();

export const audit = [
  // Entries that were imported can have other actions.
  defineTool(contract.audit_logs.list, undefined, { known: { action: ACTIONS } }),
];
