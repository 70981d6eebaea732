import { createBroker } from "../../src/broker/broker.ts";
import { createClient } from "../../src/client/client.ts";
import { createInProcessTransport } from "../../src/client/in-process.ts";
import { createLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { createHandlers } from "../../src/mcp/handlers.ts";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { createCallTool } from "../../src/mcp/tools/call.ts";
import { isReading } from "../../src/mcp/tools/listing/kinds.ts";
import { inputSchema } from "../../src/mcp/tools/listing/schemas.ts";
import type { CallArguments } from "../../src/contract/operation.ts";
import type { Tool } from "../../tools/tool.ts";
import { ALL, createOptions } from "../../test/mcp/hosts.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";
import { DISPUTES, openTenant, PAYMENT_ROWS } from "./context.ts";
import { measureLongestTurn, MOST_MS } from "./turn.ts";

/** The tools that are named with their turns. */
const SHOWN = 8;

const refuse = (): Promise<never> =>
  Promise.reject(new Error("no tool that reads stores a secret"));

/** Values of required arguments; a tool for which there is no record answers that there is none. */
const REQUIRED: Readonly<Record<string, unknown>> = {
  lines: [{ reference: "document 50", amount: 5, reason: "short" }],
  text: "account-5",
  account: "account-5",
  source: "cashapp",
  disputeId: "D-501-01",
  accountNumber: "account-5",
  documentNumbers: ["50", "51"],
  account_number: "account-0000005",
  document_number: "document-0000050",
  activityType: "LASTMODIFIED",
  since: "2026-01-01",
  startDate: "2026-01-01",
  endDate: "2026-06-30",
};

/** Further arguments with which a tool reads more than by default. */
const LARGEST: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  disputes_summary: [{ groupBy: ["account", "age"], limit: 200 }],
  receivables_kpis: [{ groupBy: ["month", "parent"], limit: 200 }],
  documents_summary: [{ groupBy: ["account", "age"], limit: 200 }],
  payments_summarize: [{ groupBy: ["payerName"], limit: 200 }],
  disputes_list: [{ PageSize: 1000, Page: 1 }, { fields: ["*"] }],
  payments_query: [{ limit: 100_000 }],
  documents_list: [{ search: "7" }],
  accounts_list: [{ search: "7" }],
  disputes_list_by_ids: [{ disputeIds: Array.from({ length: 100 }, (_, at) => `dispute-${at}`) }],
};
const RESOURCES = [
  "receivables://disputes/D-501-01",
  "receivables://dispute-configuration",
  "receivables://accounts/account-0000005",
  "receivables://documents/document-0000050",
  "receivables://export/schema",
];

/** A call, and the name of what it calls. */
type Act = { name: string; act: () => Promise<unknown> };

/** Creates the broker of the tenant's administrator over a platform in this process. */
export const createTenantBroker = ({
  platform,
  ledger,
}: Pick<Awaited<ReturnType<typeof openTenant>>, "platform" | "ledger">) =>
  createBroker({
    client: createClient({
      transport: createInProcessTransport({
        fetch: async (request) => platform.fetch(request),
        requestMs: 60_000,
      }),
      headerWord: "Platform",
      log: createLog("error"),
    }),
    vault: { put: refuse, list: refuse, show: refuse, remove: refuse },
    headerWord: "Platform",
    tenantId: ledger.tenantId,
    principal: "bench",
    credentials: async () => ({
      apiKey: new Secret(ledger.apiKey),
      extApiKey: new Secret(ledger.ingestKey),
    }),
    log: createLog("error"),
  });

/** A call by a host that can neither ask nor show views. */
export const toCall = (tool: Tool, args: CallArguments, signal: AbortSignal) => ({
  tool,
  args,
  client: "bench",
  session: "bench",
  host: { asks: "never" as const },
  showsViews: false,
  opens: { opens: "never" as const },
  signal,
  progress: async () => {},
});

/** Lists calls of every tool and kind of resource that reads, on the tenant of these benchmarks. */
const listCalls = async (): Promise<Act[]> => {
  const broker = createTenantBroker(await openTenant());
  const context = await createOptions(broker, { settings: { callsPerMinute: 0 } });
  const callTool = createCallTool(context);
  const { readResource } = createHandlers(context);
  const { signal } = new AbortController();
  const tools = activeTools(ALL).filter((tool) => isReading(tool) && tool.name !== "read_resource");
  const calls = tools.flatMap((tool) => {
    const { required = [] } = inputSchema(tool);
    const usual = Object.fromEntries(required.map((name) => [name, REQUIRED[name] ?? "C"]));
    return [{}, ...(LARGEST[tool.name] ?? [])].map((more) => ({
      name: tool.name,
      act: () => callTool(toCall(tool, { ...usual, ...more }, signal)),
    }));
  });
  const reads = RESOURCES.map((uri) => ({
    name: uri,
    act: () => readResource(uri, { tool: "resources.read", signal }),
  }));
  return [...calls, ...reads];
};

/** Calls twice, and takes the shorter turn: a collection of all garbage falls on any call, seldom on both. */
const measureCall = async (act: () => Promise<unknown>): Promise<number> => {
  const first = await measureLongestTurn(() => act().catch(() => {}));
  return Math.min(first, await measureLongestTurn(() => act().catch(() => {})));
};

/** Calls each tool; returns the longest turn of all, and names the tools with the longest ones on standard error. */
const measureTools = async (): Promise<number> => {
  const turns: { name: string; ms: number }[] = [];
  for (const { name, act } of await listCalls()) {
    turns.push({ name, ms: await measureCall(act) });
  }
  const longest = turns.toSorted((one, other) => other.ms - one.ms);
  const named = longest.slice(0, SHOWN).map(({ name, ms }) => `${name} ${ms.toFixed(1)} ms`);
  process.stderr.write(`longest turns: ${named.join(", ")}\n`);
  return longest[0]?.ms ?? 0;
};

/** Measures how long every reading tool holds the event loop of a server that is the platform too. */
export const toolPauses: Benchmark = {
  name: "tools-pause",
  about: `longest turn of the event loop, the shorter of two calls, over all tools and resources that read, with ${DISPUTES} disputes and ${PAYMENT_ROWS} payments / ${MOST_MS} ms`,
  unit: "ms CPU",
  aim: 1,
  shares: "disputes and payments",
  run: (options) =>
    // Each call is made twice already.
    interleaved({ ours: measureTools, base: () => MOST_MS }, atMost(1, options, 0)),
};
