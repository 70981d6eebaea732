import type { CallToolResult } from "@modelcontextprotocol/server";
import { formatTimestamp } from "../../kit/clock.ts";
import { CONFIRM_URI, toViewMeta } from "../../views/views.ts";
import { present } from "./answer.ts";

export type WaitingCall = {
  question: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** Carries the call out; for the view only. */
  ticket: string;
};

const TICKET_KEY = "receivables/ticket";

const WAITING =
  "Nothing was changed yet: the host shows the person a view that asks the question in `waiting`. They approve or decline there, and you are told the outcome. Do not repeat the call.";

/** Creates the result of a call that waits for a person's answer in the confirmation view. */
export const createWaiting = ({ question, expiresAt, ticket }: WaitingCall): CallToolResult => {
  const structured = { waiting: { question, expiresAt: formatTimestamp(expiresAt) } };
  const { _meta, ...result } = present({ structured, notes: [WAITING], etag: null });
  return { ...result, _meta: { ..._meta, ...toViewMeta(CONFIRM_URI), [TICKET_KEY]: ticket } };
};

/** Whether a call ended with a question to the person. */
export const isWaiting = ({ _meta }: Pick<CallToolResult, "_meta">): boolean =>
  _meta !== undefined && TICKET_KEY in _meta;
