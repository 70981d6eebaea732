import { contract } from "../contract/index.ts";
import type { ArgsOf } from "../contract/operation.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import type { InsightContext } from "./insight.ts";
import { type Page, type Reading, readPages } from "./read-pages.ts";

/** The filters of a list of disputes. */
export type DisputeArguments = Omit<
  ArgsOf<typeof contract.disputes.list>,
  "Sort" | "Page" | "PageSize"
>;

/** The longest page that the platform gives. */
const PAGE_SIZE = 1000;

/** The pages read so far. They tell the end of a list on platforms that give no total. */
type Progress = { page: number; read: number; firstLength: number };

const isLast = (rows: readonly Dispute[], total: number | null, progress: Progress): boolean => {
  // More rows than asked for: the platform does not divide its lists into pages.
  if (rows.length === 0 || rows.length > PAGE_SIZE) return true;
  if (total !== null) return progress.read >= total;
  // A platform may have shorter pages than ours, so only a page that is shorter than the first one is the last.
  return rows.length < progress.firstLength;
};

/**
 * Reads all disputes that the arguments of disputes.list select, each once. Additions during the reading come last.
 *
 * @throws {Problem} the platform's refusal
 */
export const readDisputes = (
  context: InsightContext,
  args: DisputeArguments,
  take: (disputes: readonly Dispute[]) => void | Promise<void>,
): Promise<Reading> => {
  const seen = new Set<string>();

  const isNew = ({ disputeId }: Dispute): boolean => {
    if (seen.has(disputeId)) return false;
    seen.add(disputeId);
    return true;
  };

  const load = async ({ page, read, firstLength }: Progress): Promise<Page<Dispute>> => {
    const paged = { ...args, Sort: "CreateDate", Page: page, PageSize: PAGE_SIZE };
    const { output: all, total } = await context.call(contract.disputes.list, paged);
    const rows = all.filter(isNew);
    const after = { page, read: read + all.length, firstLength: firstLength || all.length };
    const isEnd = isLast(all, total, after) || rows.length === 0;
    return { rows, next: isEnd ? undefined : () => load({ ...after, page: page + 1 }) };
  };

  const first = () => load({ page: 1, read: 0, firstLength: 0 });
  return readPages(context, { first, maxRows: context.limits.disputes, noun: "disputes", take });
};
