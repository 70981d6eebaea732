import type { CallOptions } from "../../client/port.ts";
import { contract } from "../../contract/index.ts";
import type { Operation } from "../../contract/operation.ts";
import type { CallerContext } from "../caller.ts";
import { cost, fairShares, type Fields, truncateToBudget } from "../results/budget.ts";
import { readList } from "../results/pages.ts";
import { findDisputeId } from "./dispute-lookup.ts";
import { MARGIN_TOKENS, type Part, truncatePart } from "./part.ts";
import type { ConfigurationNoun } from "./resource-list.ts";

const NOUNS: Record<ConfigurationNoun, Operation> = {
  reasons: contract.reasons.list,
  categories: contract.categories.list,
  departments: contract.departments.list,
  assignees: contract.assignees.list,
  resolutions: contract.resolutions.list,
};

const readRecords = async (
  { broker, now }: CallerContext,
  { operation, args, budget }: { operation: Operation; args: Fields; budget: number },
  options: CallOptions,
): Promise<Part> => {
  const readPage = (page: Fields) => broker.call(operation, page, options);
  const { items, total, position } = await readList(operation, args, readPage, {
    from: null,
    budget,
    now,
  });
  return { items, total, truncated: position !== null };
};

/** Reads the tenant's dispute configuration; the nouns share the answer's budget. */
export const readConfiguration = async (
  context: CallerContext,
  nouns: readonly ConfigurationNoun[],
  options: CallOptions,
): Promise<Fields> => {
  const budget = context.settings.answerTokens - MARGIN_TOKENS * (nouns.length + 1);
  const parts = await Promise.all(
    nouns.map(async (noun) => {
      const list = { operation: NOUNS[noun], args: {}, budget };
      return { noun, part: await readRecords(context, list, options) };
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
  context: CallerContext,
  name: string,
  options: CallOptions,
): Promise<Fields> => {
  const { broker, settings } = context;
  const disputeId = await findDisputeId(broker, name, options);
  const { output } = await broker.call(contract.disputes.get, { disputeId }, options);
  const budget = settings.answerTokens - MARGIN_TOKENS;
  const { record } = truncateToBudget(output as Fields, Math.floor(budget / 2));
  const left = budget - cost(record) - 2 * MARGIN_TOKENS;
  const read = (operation: Operation): Promise<Part> =>
    readRecords(context, { operation, args: { disputeId }, budget: left }, options);
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
