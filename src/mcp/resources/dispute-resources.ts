import type { CallerContext } from "../caller.ts";
import type { Operation } from "../../contract/operation.ts";
import { contract } from "../../contract/index.ts";
import { cost, fairShares, type Fields, truncateToBudget } from "../results/budget.ts";
import { readList } from "../results/pages.ts";
import { findDisputeId } from "./dispute-lookup.ts";
import { MARGIN_TOKENS, type Part, truncatePart } from "./part.ts";
import type { ConfigurationNoun } from "./resource-list.ts";

type Context = Pick<CallerContext, "broker" | "settings" | "now">;
type Asked = { tool: string; signal: AbortSignal };

const NOUNS: Record<ConfigurationNoun, Operation> = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
};

const readRecords = async (
  { broker, now }: Context,
  { operation, args, budget }: { operation: Operation; args: Fields; budget: number },
  asked: Asked,
): Promise<Part> => {
  const ask = (page: Fields) => broker.call(operation, page, asked);
  const { items, total, truncated } = await readList(operation, args, ask, {
    from: null,
    budget,
    now,
  });
  return { items, total, truncated };
};

/** Reads the tenant's dispute configuration; the nouns share the answer's budget. */
export const readConfiguration = async (
  context: Context,
  nouns: readonly ConfigurationNoun[],
  asked: Asked,
): Promise<Fields> => {
  const budget = context.settings.answerTokens - MARGIN_TOKENS * (nouns.length + 1);
  const parts = await Promise.all(
    nouns.map(async (noun) => {
      const list = { operation: NOUNS[noun], args: {}, budget };
      return { noun, part: await readRecords(context, list, asked) };
    }),
  );
  const wants = parts.map(({ part }) => cost(part));
  const shares = fairShares(wants, budget);
  return Object.fromEntries(
    parts.map(({ noun, part }, index) => [noun, truncatePart(part, shares[index] ?? 0)]),
  );
};

/** Reads a dispute by its id or code. The record gets half of the budget, its notes and files share the rest. */
export const readDispute = async (
  context: Context,
  name: string,
  asked: Asked,
): Promise<Fields> => {
  const { broker, settings } = context;
  const disputeId = await findDisputeId(broker, name, asked);
  const { output } = await broker.call(contract.disputes.get, { disputeId }, asked);
  const budget = settings.answerTokens - MARGIN_TOKENS;
  const { record } = truncateToBudget(output as Fields, Math.floor(budget / 2));
  const left = budget - cost(record) - 2 * MARGIN_TOKENS;
  const read = (operation: Operation): Promise<Part> =>
    readRecords(context, { operation, args: { disputeId }, budget: left }, asked);
  const [notes, attachments] = await Promise.all([
    read(contract.dispute_notes.list),
    read(contract.dispute_attachments.list),
  ]);
  const [noteShare = 0, fileShare = 0] = fairShares([cost(notes), cost(attachments)], left);
  return {
    dispute: record,
    notes: truncatePart(notes, noteShare),
    attachments: truncatePart(attachments, fileShare),
  };
};
