import type { CallToolResult } from "@modelcontextprotocol/server";
import { INSIGHT_LIMITS, type InsightContext } from "../../insights/insight.ts";
import { runInsight, type StartContext } from "../../insights/run-insight.ts";
import { Problem } from "../../contract/errors.ts";
import type { Operation } from "../../contract/operation.ts";
import { present } from "../results/answer.ts";
import { insightAnswer } from "../results/insight-answer.ts";
import { defaultOf, readInsightArguments } from "./insight-arguments.ts";
import type { WorkingInsight } from "./tool-call.ts";
import type { ToolContext } from "./tool-context.ts";

type Args = Record<string, unknown>;

/** The budget of an insight's answer, in tokens, unless the caller asks for more items than the default. */
export const INSIGHT_TOKENS = 2000;

const nameRight = (error: unknown, { access }: Operation): unknown =>
  error instanceof Problem && error.code === "forbidden_permission"
    ? new Problem(error.code, error.message, { permission: access, ...error.details }, error)
    : error;

/** Calls operations on behalf of an insight: a refusal names the right, and a mask is applied. */
const callFor =
  ({ tool, signal, broker }: WorkingInsight): InsightContext["call"] =>
  async (operation, args) => {
    try {
      const reply = await broker.call(operation, args, { tool: tool.name, signal });
      return operation.mask === null
        ? reply
        : { ...reply, output: operation.mask(reply.output as never) };
    } catch (error) {
      throw nameRight(error, operation);
    }
  };

/** So many rows of payments, which are long, fit beside the items. */
const ROWS_WITHIN = 3;

const budgetFor = (answerTokens: number, { tool }: WorkingInsight, args: Args): number => {
  const isMore = (name: string, usual: unknown): boolean => Number(args[name]) > Number(usual);
  const wantsMore =
    isMore("limit", defaultOf(tool.insight, "limit")) || isMore("topRows", ROWS_WITHIN);
  return wantsMore ? answerTokens : Math.min(answerTokens, INSIGHT_TOKENS);
};

export const createInsightCall =
  ({ now, settings }: ToolContext) =>
  async (call: WorkingInsight): Promise<CallToolResult> => {
    const { tool, signal, progress, broker } = call;
    const args = readInsightArguments(tool, call.args);
    const context: StartContext = {
      call: callFor(call),
      extensions: await broker.extensions(signal),
      now,
      signal,
      progress,
      limits: INSIGHT_LIMITS,
    };
    const result = await runInsight(tool.insight, context, args);
    return present(insightAnswer(result, budgetFor(settings.answerTokens, call, args)));
  };
