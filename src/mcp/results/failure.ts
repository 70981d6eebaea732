import type { CallArguments } from "../../contract/operation.ts";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Fault, Problem, type ProblemDetails } from "../../contract/errors.ts";
import type { Tool } from "../../../tools/tool.ts";
import { sanitizeLine } from "./sanitize.ts";
import { nextStep } from "./next-step.ts";
import { type Confirmation, Refusal, type RefusalCode, statusOf } from "./refusal.ts";

/** A refusal as hosts and models receive it. */
export type Told = {
  code: RefusalCode;
  message: string;
  nextStep: string;
  status: number;
  retryAfterSeconds?: number;
  fields?: Fault[];
  requestId?: string;
};

const MAX_MESSAGE = 700;
const MAX_FIELDS = 20;
const MAX_FIELD = 160;

const fieldsOf = ({ errors = [] }: ProblemDetails): Fault[] =>
  errors.slice(0, MAX_FIELDS).map(({ field, code, message }) => ({
    field: sanitizeLine(field, MAX_FIELD),
    code: sanitizeLine(code, 64),
    message: sanitizeLine(message, MAX_FIELD),
  }));

const sentenceOf = (message: string, fields: Fault[]): string => {
  const line = sanitizeLine(message, MAX_MESSAGE);
  const unsaid = fields.filter(({ field }) => !line.includes(field));
  const sentences = unsaid.map(({ field, message: fault }) => `${field} ${fault}`).join("; ");
  const full = sentences === "" ? line : `${line.replace(/\.$/, "")}: ${sentences}`;
  return /[.!?…]$/.test(full) ? full : `${full}.`;
};

/** A tool that only describes others is null. */
type Called = { tool: Tool | null; args: CallArguments };

const describeRefusal = (
  { tool, args }: Called,
  code: RefusalCode,
  message: string,
  details: ProblemDetails = {},
): Told => {
  const fields = fieldsOf(details);
  const { retryAfterSeconds, requestId } = details;
  return {
    code,
    message: sentenceOf(message, fields),
    nextStep: nextStep(code, tool, details, args),
    status: statusOf(code),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(requestId === undefined ? {} : { requestId }),
  };
};

/** Describes an error: a problem by its own message, any other error only by a request id. */
export const describeFailure = (error: unknown, called: Called, requestId: string): Told => {
  if (error instanceof Problem)
    return describeRefusal(called, error.code, error.message, error.details);
  if (error instanceof Refusal) {
    const refused = describeRefusal(called, error.code, error.message);
    return { ...refused, nextStep: error.nextStep ?? refused.nextStep };
  }
  return describeRefusal(called, "internal", "Something went wrong in this server.", { requestId });
};

const tokenLine = (confirmation: Confirmation | undefined): string =>
  confirmation === undefined
    ? ""
    : ` confirmationToken: ${confirmation.confirmationToken} (until ${confirmation.expiresAt})`;

/** The message is one line, so a question of several lines follows it as it is. */
const tableOf = (confirmation: Confirmation | undefined): { type: "text"; text: string }[] =>
  confirmation?.summary.includes("\n") === true
    ? [{ type: "text", text: confirmation.summary }]
    : [];

/** Creates the result of a failed call. It has no structured content, because 1.x clients would validate it. */
export const failed = (problem: Told, confirmation?: Confirmation): CallToolResult => ({
  isError: true,
  content: [
    {
      type: "text",
      text: `${problem.code}: ${problem.message} Next: ${problem.nextStep}${tokenLine(confirmation)}`,
    },
    ...tableOf(confirmation),
  ],
  _meta: {
    "receivables/problem": problem,
    ...(confirmation === undefined ? {} : { "receivables/confirmation": confirmation }),
  },
});
