import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import { utcCalendar } from "../../src/contract/insights/calendar.ts";
import type { ArgsOf, Operation } from "../../src/contract/operation.ts";
import {
  INSIGHT_LIMITS,
  type Insight,
  type InsightContext,
  type InsightResult,
} from "../../src/insights/insight.ts";
import { runInsight as runBounded, type StartContext } from "../../src/insights/run-insight.ts";
import { createLog } from "../../src/kit/log.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { randomId } from "../../src/kit/ids.ts";
import type { Person, TestPlatform } from "./platform.ts";

/** A context of insights over a real platform, with what was called and said to the host. */
export type TestContext = StartContext & { calls: string[]; messages: string[] };

type Options = Partial<Pick<InsightContext, "calendar" | "extensions" | "limits" | "signal">> & {
  /** Changes the arguments of a call, or refuses it. */
  intercept?: <O extends Operation>(operation: O, args: ArgsOf<O>) => ArgsOf<O>;
  /** The scopes of the key for the export service; all by default. */
  scopes?: readonly string[];
};

/** Creates a context that calls the platform as a person, and its export service with a key. */
export const createTestContext = async (
  at: TestPlatform,
  tenantId: string,
  person: Pick<Person, "token">,
  { intercept = (_operation, args) => args, scopes, ...options }: Options = {},
): Promise<TestContext> => {
  const { store, clock, platform } = at;
  const { apiKey } = await issueKey(
    { store, clock, newId: randomId },
    { tenantId, name: "insights", ...(scopes === undefined ? {} : { scopes }) },
  );
  const client = createClient({
    transport: createInProcessTransport({
      fetch: async (request) => platform.fetch(request),
      requestMs: 30_000,
    }),
    headerWord: "Platform",
    log: createLog("error", () => {}),
  });
  const [calls, messages]: [string[], string[]] = [[], []];
  const { signal = new AbortController().signal } = options;
  return {
    calls,
    messages,
    extensions: new Set(),
    limits: INSIGHT_LIMITS,
    now: clock,
    calendar: utcCalendar,
    signal,
    ...options,
    async call(operation, sent) {
      calls.push(operation.id);
      const args = intercept(operation, sent);
      const isTenant = "tenantId" in operation.params.shape;
      const credential: Record<string, string> =
        operation.service === "gateway"
          ? { "x-platform-auth": person.token }
          : { "x-api-key": apiKey };
      const all = isTenant ? { ...args, tenantId } : args;
      return client.call(operation, all, credential, { tool: "insight", signal });
    },
    async progress(message) {
      messages.push(message);
    },
  };
};

/** Runs an insight as the server does: with validated arguments. */
export const runInsight = async (
  insight: Insight,
  context: StartContext,
  args: Record<string, unknown>,
): Promise<InsightResult> => runBounded(insight, context, insight.input.parse(args));
