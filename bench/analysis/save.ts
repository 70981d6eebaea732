import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { createCallTool } from "../../src/mcp/tools/call.ts";
import { ALL, createOptions } from "../../test/mcp/hosts.ts";
import { DISPUTES, openTenant } from "../insights/context.ts";
import { createTenantBroker, toCall } from "../insights/tool-pause.ts";
import { measureLongestTurn, MOST_MS } from "../insights/turn.ts";
import { atMost, type Benchmark, interleaved } from "../measure.ts";

const MOST_RUNS = 3;
const MOST_MIB = 300;
const MIB = 1024 * 1024;
const SAMPLE_MS = 10;

/** Saves all disputes as a workbook, with every field. */
const saveDisputes = async (): Promise<() => Promise<void>> => {
  const opened = await openTenant();
  const broker = createTenantBroker(opened);
  const saved = opened.platform.savedFiles;
  const callTool = createCallTool(await createOptions(broker, { saved }));
  const tool = activeTools(ALL).find(({ name }) => name === "disputes_list");
  if (tool === undefined) throw new Error("there is no such tool");
  const { signal } = new AbortController();
  return async () => {
    const result = await callTool(toCall(tool, { save: "xlsx", fields: ["*"] }, signal));
    const { structuredContent } = result as { structuredContent?: { saved?: { rows: number } } };
    if (structuredContent?.saved?.rows !== DISPUTES) throw new Error(JSON.stringify(result));
  };
};

/** Returns the most memory that JavaScript and its buffers use beyond what they used before, in MiB. */
const measureMemory = async (act: () => Promise<void>): Promise<number> => {
  const use = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / MIB;
  };
  const before = use();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, use())), SAMPLE_MS);
  await act();
  clearInterval(timer);
  return Math.max(1, most - before);
};

const pause: Benchmark = {
  name: "work-save",
  about: `longest turn of the event loop while ${DISPUTES} disputes are saved as XLSX / ${MOST_MS} ms`,
  unit: "ms CPU",
  aim: 1,
  shares: "disputes and payments",
  async run(options) {
    const save = await saveDisputes();
    return interleaved(
      { ours: () => measureLongestTurn(save), base: () => MOST_MS },
      atMost(MOST_RUNS, options),
    );
  },
};

const memory: Benchmark = {
  name: "work-save-memory",
  about: `memory that saving ${DISPUTES} disputes as XLSX uses / ${MOST_MIB} MiB`,
  unit: "MiB",
  aim: 1,
  shares: "disputes and payments",
  async run(options) {
    const save = await saveDisputes();
    return interleaved(
      { ours: () => measureMemory(save), base: () => MOST_MIB },
      atMost(MOST_RUNS, options),
    );
  },
};

/** Saving a whole list as a workbook: without a pause, and in bounded memory. */
export const saveBenchmarks: readonly Benchmark[] = [pause, memory];
