import type { CallToolResult } from "@modelcontextprotocol/server";
import { INSIGHT_LIMITS, type InsightContext } from "../../insights/insight.ts";
import { runInsight, type StartContext } from "../../insights/run-insight.ts";
import { Problem, type Fault } from "../../contract/errors.ts";
import { assertOutput, type CallArguments, type Operation } from "../../contract/operation.ts";
import { present } from "../results/answer.ts";
import { malformedResponse } from "../results/refusal.ts";
import { type Budget, type Continuation, insightAnswer } from "../results/insight-answer.ts";
import type { Working, ToolContext } from "./tool-context.ts";
import { z } from "zod";
import type { Broker } from "../../broker/port.ts";
import { toFaults } from "../../contract/faults.ts";
import type { InsightTool } from "../../../tools/tool.ts";
import { refuseArguments, unwrapArguments } from "./arguments/arguments.ts";
import { toPurpose } from "./binding.ts";
import { createCursors } from "./cursor.ts";
import { withoutRefusedNulls } from "./arguments/nulls.ts";
import { acceptedSchema, type JsonSchema } from "./listing/schemas.ts";
import { SaveArguments, type SaveOptions, toSaveOptions } from "./arguments/save-options.ts";
import type { Save } from "./saving/save.ts";
import { prepareInsight } from "./saving/save-insight.ts";
import { readTenantCalendar } from "./tenant-calendar.ts";

/** The arguments that the server adds to those of an insight. */
const Steering = SaveArguments.extend({ cursor: z.string().min(1).max(8192).optional() });

const schemas = new WeakMap<InsightTool, JsonSchema>();

const schemaOf = (tool: InsightTool): JsonSchema => {
  const schema = schemas.get(tool) ?? acceptedSchema(tool);
  schemas.set(tool, schema);
  return schema;
};

const fieldOf = ({ input }: InsightTool["insight"], name: string): z.ZodType | undefined =>
  (input.shape as Record<string, z.ZodType>)[name];

/** The default of an argument, if it has one. */
const defaultOf = (insight: InsightTool["insight"], name: string): unknown => {
  const parsed = fieldOf(insight, name)?.safeParse(undefined);
  return parsed?.success === true ? parsed.data : undefined;
};

/** A value in the form of a schema, as an example for a refusal. */
const exampleOf = ({ type, enum: values, items, properties = {} }: JsonSchema): unknown => {
  const [kind] = [type].flat();
  if (values !== undefined) return values[0];
  if (kind === "array") return items === undefined ? [] : [exampleOf(items)];
  if (kind === "boolean") return true;
  if (kind === "integer" || kind === "number") return 10;
  if (kind !== "object") return "text";
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]),
  );
};

const HAS_EXAMPLE = /such as|for instance|one of|did you mean|known:|at most/;

/** Adds an example of the right form to a fault that has none. */
const withExample = (
  insight: InsightTool["insight"],
  { properties = {} }: JsonSchema,
  values: CallArguments,
  fault: Fault,
): Fault => {
  const [name = ""] = fault.field.split(/[.[]/, 1);
  const isText = fault.message === "must be a string";
  const isNull = values[name] === null || (isText && [values[name]].flat()[0] === null);
  if (isNull) return { ...fault, message: "must not be null" };
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (schema === undefined || HAS_EXAMPLE.test(fault.message)) return fault;
  const [example = exampleOf(schema)] = (fieldOf(insight, name)?.meta()?.["examples"] ??
    []) as unknown[];
  return {
    ...fault,
    message: `${fault.message}, for instance ${JSON.stringify(example)}`,
  };
};

/**
 * Returns the arguments of an insight as its schema reads them, defaults included, and those of the server.
 *
 * @throws {Problem} `invalid_request`, which names every fault with what is known or an example
 */
const readInsightArguments = (
  tool: InsightTool,
  sent: CallArguments,
): { args: CallArguments; cursor: string | undefined; save: SaveOptions | undefined } => {
  const schema = schemaOf(tool);
  const { values, unknown } = unwrapArguments(tool, sent, schema);
  const known = Object.entries(values).filter(([name]) => name in (schema.properties ?? {}));
  const { cursor, save, about, ...typed } = Object.fromEntries(known);
  const own = withoutRefusedNulls(tool.insight.input, typed);
  const parsed = tool.insight.input.safeParse(own, { reportInput: true });
  const steered = Steering.safeParse({ cursor, save, about }, { reportInput: true });
  const wrong = [parsed, steered].flatMap(({ error }) => (error ? toFaults(error) : []));
  const all = [
    ...unknown,
    ...wrong.map((fault) => withExample(tool.insight, schema, values, fault)),
  ];
  if (all.length > 0 || !parsed.success || !steered.success) throw refuseArguments(tool, all);
  return {
    args: parsed.data,
    cursor: steered.data.cursor,
    save: toSaveOptions(steered.data),
  };
};

/** The most items that answers before one may have had: each answer counts them again. */
const MAX_SKIPPED = 10_000;

/** Returns the place of an answer in the list of items, by the cursor that it was asked with. */
const continuationOf = (
  context: ToolContext,
  { insight }: InsightTool,
  { args, cursor }: { args: CallArguments; cursor: string | undefined },
): Continuation => {
  const cursors = createCursors(context.key, context.now);
  const purpose = toPurpose(context, insight, args);
  return {
    skip: cursor === undefined ? 0 : cursors.open(cursor, purpose).offset,
    sealCursor: (skip) =>
      skip > MAX_SKIPPED
        ? undefined
        : cursors.seal({ page: null, offset: skip, after: null }, purpose),
  };
};

/** The budget of an insight's answer, in tokens, unless the caller asks for more items than the default. */
export const INSIGHT_TOKENS = 2000;

const nameRight = (error: unknown, { access }: Operation): unknown =>
  error instanceof Problem && error.code === "forbidden_permission"
    ? new Problem(error.code, error.message, { permission: access, ...error.details }, error)
    : error;

/** Reads the beginning of a file's text. */
type ReadExcerpt = (
  broker: Broker,
  file: { disputeId: string; attachmentId: string },
  options: { tool: string; signal: AbortSignal },
) => ReturnType<NonNullable<InsightContext["readExcerpt"]>>;

/** Calls operations on behalf of an insight: a refusal names the right, and a mask is applied. */
const callFor =
  ({ tool, signal, broker }: Working<InsightTool>): InsightContext["call"] =>
  async (operation, args) => {
    try {
      const reply = await broker.call(operation, args, { tool: tool.name, signal });
      if (operation.mask === null) return reply;
      const output: unknown = operation.mask(reply.output);
      assertOutput(operation, output, () => {
        throw malformedResponse();
      });
      return { ...reply, output };
    } catch (error) {
      throw nameRight(error, operation);
    }
  };

/** So many rows of payments, which are long, fit beside the items. */
const ROWS_WITHIN = 3;

const budgetFor = (
  answerTokens: number,
  { tool }: Working<InsightTool>,
  args: CallArguments,
): Budget => {
  const { tokens = INSIGHT_TOKENS, shorten, shortenItems } = tool.insight;
  const usual = defaultOf(tool.insight, "limit");
  const isMore = (name: string, than: unknown): boolean => Number(args[name]) > Number(than);
  const wantsMore = isMore("limit", usual) || isMore("topRows", ROWS_WITHIN);
  if (wantsMore || answerTokens <= tokens) return { tokens: answerTokens, shorten, shortenItems };
  return { tokens, isRaisable: usual !== undefined, shorten, shortenItems };
};

export const createInsightCall =
  (needs: ToolContext, { readExcerpt, save }: { readExcerpt: ReadExcerpt; save: Save }) =>
  async (call: Working<InsightTool>): Promise<CallToolResult> => {
    const { tool, signal, progress, broker } = call;
    const { now, settings } = needs;
    const read = readInsightArguments(tool, call.args);
    const { args } = read;
    const continuation = continuationOf(needs, tool, read);
    const days = await readTenantCalendar({ ...needs, signal });
    const context: StartContext = {
      call: callFor(call),
      extensions: await broker.extensions(
        signal,
        tool.insight.needs.some(({ extension }) => extension),
      ),
      now,
      calendar: days.calendar,
      signal,
      progress,
      limits: INSIGHT_LIMITS,
      skip: continuation.skip,
      readExcerpt: (file) => readExcerpt(broker, file, { tool: tool.name, signal }),
    };
    if (read.save !== undefined) {
      return save(call, read.save, await prepareInsight({ tool, context, args, days, needs }));
    }
    const result = await runInsight(tool.insight, context, args);
    const answer = { ...result, notes: [...result.notes, ...days.notes] };
    const budget = budgetFor(settings.answerTokens, call, args);
    return present(insightAnswer(answer, budget, continuation), needs.mcpUrl);
  };
