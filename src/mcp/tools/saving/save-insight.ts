import type { z } from "zod";
import type { CallArguments } from "../../../contract/operation.ts";
import type { Insight, InsightResult } from "../../../insights/insight.ts";
import { runInsight, type StartContext } from "../../../insights/run-insight.ts";
import { SECOND } from "../../../kit/clock.ts";
import type { InsightTool } from "../../../../tools/tool.ts";
import type { Row } from "../../files/saved/cells.ts";
import { insightAnswer } from "../../results/insight-answer.ts";
import type { TenantCalendar } from "../tenant-calendar.ts";
import type { ToolContext } from "../tool-context.ts";
import { columnsOfItems } from "./columns.ts";
import type { Saving } from "./save.ts";

/** The limits on items that insights take, the highest first. */
const LIMITS = [200, 100, 50];

/** Returns the arguments with the highest limit on items that the insight takes, for platforms that give items in pages. */
const withHighestLimit = ({ input }: Insight, args: CallArguments): CallArguments => {
  const { limit } = input.shape as Record<string, z.ZodType | undefined>;
  const most = LIMITS.find((count) => limit?.safeParse(count).success === true);
  return most === undefined ? args : { ...args, limit: most };
};

type Whole = { result: InsightResult; items: Row[]; notes: string[] };

/** Runs an insight until all of its items are read. Most need one run; others give the next items in further ones. */
const runWhole = async (
  insight: Insight,
  start: StartContext,
  args: CallArguments,
): Promise<Whole> => {
  const { now, limits } = start;
  const until = now() + limits.ms;
  const widest = withHighestLimit(insight, args);
  const run = (skip: number) => runInsight(insight, { ...start, skip, isWhole: true }, widest);
  const result = await run(0);
  const items: Row[] = [...result.items];
  while (items.length < result.itemsTotal && now() < until) {
    const more = await run(items.length);
    if (more.items.length === 0) break;
    for (const item of more.items) items.push(item);
  }
  if (items.length >= result.itemsTotal) return { result, items, notes: [] };
  const why = now() < until ? "the platform gives no more" : `reading took ${limits.ms / SECOND} s`;
  const note = `The table has the first ${items.length} of ${result.itemsTotal} items: ${why}.`;
  return { result, items, notes: [note] };
};

type Needs = {
  tool: InsightTool;
  context: StartContext;
  args: CallArguments;
  days: TenantCalendar;
  needs: ToolContext;
};

/** Reads the whole result of an insight, and prepares it to be saved. */
export const prepareInsight = async ({
  tool,
  context,
  args,
  days,
  needs,
}: Needs): Promise<Saving> => {
  const { result, items, notes } = await runWhole(tool.insight, context, args);
  const all = [...result.notes, ...days.notes, ...notes];
  const head = { ...result, notes: all, items: [] };
  const { structured } = insightAnswer(head, { tokens: needs.settings.answerTokens / 2 });
  return {
    columns: await columnsOfItems(tool.insight.item, items),
    rows: (async function* () {
      yield items;
    })(),
    zone: days.calendar.zone,
    filter: result.filter,
    // The answer has them already.
    notes: () => all,
    structured,
  };
};
