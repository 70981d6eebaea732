import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import type { ConfirmationWay } from "../../contract/confirmation.ts";
import type { Working } from "./tool-context.ts";

type Note = { disputeId: string; content: string; idempotencyKey: string };

/** Adds an internal note to a dispute that the call has changed or opened, and reports how that went. */
export const addNote = async (
  { broker, tool, signal }: Working,
  confirmedBy: ConfirmationWay,
  { idempotencyKey, ...args }: Note,
): Promise<{ note: "added" } | { note: "refused"; code: string; message: string }> => {
  const options = { tool: tool.name, signal, confirmedBy, idempotencyKey };
  try {
    await broker.call(contract.dispute_notes.create, args, options);
    return { note: "added" };
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted) throw error;
    const { code, message } = error;
    return { note: "refused", code, message };
  }
};
