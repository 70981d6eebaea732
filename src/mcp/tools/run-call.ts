import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { Broker } from "../../broker/port.ts";
import type { Reply } from "../../client/port.ts";
import type { Problem } from "../../contract/errors.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import { randomId } from "../../kit/ids.ts";
import { isDeeperThan, isLargerThan } from "../../kit/json.ts";
import { toErrorFields } from "../../kit/log.ts";
import { getRequestId } from "../../kit/request-id.ts";
import type { Tool } from "../../../tools/tool.ts";
import { failed, describeFailure } from "../results/failure.ts";
import { badArguments, Refusal } from "../results/refusal.ts";
import { isWaiting } from "../results/waiting.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import type { ToolContext } from "./tool-context.ts";

/** The same broker, and the request id of the last exchange through it. */
const watched = (broker: Broker) => {
  let requestId: string | null = null;
  const noted = async <O extends Operation>(exchange: Promise<Reply<O>>): Promise<Reply<O>> => {
    const reply = await exchange;
    ({ requestId } = reply);
    return reply;
  };
  const working: Broker = {
    ...broker,
    call: (operation, args, options) => noted(broker.call(operation, args, options)),
    login: (options) => noted(broker.login(options)),
    verify: (options) => noted(broker.verify(options)),
    logout: (options) => noted(broker.logout(options)),
  };
  return { working, lastRequestId: () => requestId };
};

const MAX_DEPTH = 32;

const tooDeep = (name: string): Problem =>
  badArguments(`${name}: arguments may be nested ${MAX_DEPTH} levels deep at most.`, [
    {
      field: "",
      code: "depth",
      message: `must be nested at most ${MAX_DEPTH} levels deep`,
    },
  ]);

/** More than a document of 10,000 lines with every field has. */
const MAX_VALUES = 250_000;

const tooLarge = (name: string): Problem =>
  badArguments(`${name}: arguments may have ${MAX_VALUES} values at most.`, [
    { field: "", code: "too_long", message: `must have at most ${MAX_VALUES} values` },
  ]);

/** The arguments' own values; what is nested in them is left out. */
const withinDepth = (args: CallArguments): CallArguments =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "object" ? null : value]),
  );

type CallResult = CallToolResult | InputRequiredResult;

/** Whether a call ended with a question to a person. */
const isAsked = (result: CallResult): boolean => ("content" in result ? isWaiting(result) : true);

export type Called = {
  name: string;
  /** Null for a tool that only describes or calls others. */
  tool: Tool | null;
  args: CallArguments;
  signal: AbortSignal;
};

export type RunCall = (
  called: Called,
  work: (broker: Broker) => CallResult | Promise<CallResult>,
) => Promise<CallResult>;

/** Runs the calls of one caller: limits their rate, logs each, and turns every failure into a result. */
export const createRunCall = (needs: ToolContext): RunCall => {
  const pass = createRateLimiter(needs.settings.callsPerMinute, needs.now, needs.countCall);
  const { broker, caller, callLog, log, now, newId = randomId } = needs;
  const { tenantId, principal } = broker;
  return async (called, work) => {
    const { name, tool, signal } = called;
    const isTooLarge = isLargerThan(called.args, MAX_VALUES);
    const isTooDeep = !isTooLarge && isDeeperThan(called.args, MAX_DEPTH);
    // Nothing may walk arguments that are too deep, the log included: they are read to the limit.
    const args = isTooDeep || isTooLarge ? withinDepth(called.args) : called.args;
    const started = now();
    const { working, lastRequestId } = watched(broker);
    const end = async (event: string, outcome: string, requestId: string | null): Promise<void> => {
      const ms = now() - started;
      const fields = { tool: name, outcome, ms, caller, tenantId, requestId };
      // Without the principal, which may be a person's e-mail address.
      log.info(event, { ...fields, httpRequestId: getRequestId() });
      await callLog.record({ ...fields, principal, args });
    };
    try {
      await pass();
      if (isTooDeep) throw tooDeep(name);
      if (isTooLarge) throw tooLarge(name);
      const result = await work(working);
      await end("tool.called", isAsked(result) ? "asked" : "done", lastRequestId());
      return result;
    } catch (error) {
      const problem = describeFailure(error, { tool, args }, newId());
      const { code, requestId } = problem;
      await end("tool.refused", code, requestId ?? lastRequestId());
      if (code === "internal" && !signal.aborted) {
        log.error("tool.failed", { tool: name, requestId, ...toErrorFields(error) });
      }
      return failed(problem, error instanceof Refusal ? error.confirmation : undefined);
    }
  };
};
