import { COMMAND_ACTIONS, SERVICE_ACTIONS } from "../src/contract/audit-actions.ts";
import { contract, operations } from "../src/contract/index.ts";
import { listAuditActions } from "../src/contract/operation.ts";
import { defineTool } from "./tool.ts";

const ACTIONS: readonly string[] = [
  ...new Set([...operations.flatMap(listAuditActions), ...SERVICE_ACTIONS, ...COMMAND_ACTIONS]),
].toSorted();

export const audit = [
  // Entries that were imported can have other actions.
  defineTool(contract.audit_logs.list, undefined, { known: { action: ACTIONS } }),
];
