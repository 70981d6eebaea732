import { contract } from "../contract/index.ts";
import {
  MOST_REOPENED,
  parseReopening,
  REOPENED_ACTION,
  type Reopening,
} from "../contract/insights/reopened.ts";
import type { ArgsOf, OutputOf } from "../contract/operation.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { forEachInTurns } from "../kit/in-turns.ts";
import type { InsightContext } from "./insight.ts";
import type { Listed } from "./read-pages.ts";
import { attemptPart, type Part } from "./read-part.ts";

const { audit_logs: auditLogs } = contract;

const PAGE_ROWS = 1000;
const DONE = 200;

/** Reads pages until the last one, or until so many were read. */
export const readUntil = async <T>(
  load: (cursor: string | undefined) => Promise<Listed<T>>,
  most: number,
): Promise<{ rows: T[]; isCut: boolean }> => {
  const rows: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < most; page += 1) {
    const { data, pagination } = (await load(cursor)).output;
    rows.push(...data);
    if (pagination.cursor === null || pagination.cursor === cursor) return { rows, isCut: false };
    ({ cursor } = pagination);
  }
  return { rows, isCut: true };
};

type Entry = OutputOf<typeof auditLogs.list>["data"][number];

/** Reads the newest audit entries, the newest first. */
export const readEntries = (
  { call }: Pick<InsightContext, "call">,
  args: Omit<ArgsOf<typeof auditLogs.list>, "limit" | "cursor">,
  mostPages: number,
): Promise<{ rows: Entry[]; isCut: boolean }> =>
  readUntil((cursor) => call(auditLogs.list, { ...args, limit: PAGE_ROWS, cursor }), mostPages);

/** A reopening with its time. */
export type DatedReopening = Reopening & { at: number };

/** Reopenings, oldest first, and how many others do not name their dispute. */
type Reopenings = { reopenings: DatedReopening[]; unnamed: number; isCut: boolean };

/** Reads the reopenings from a moment on, as far as the audit log tells them. */
export const readReopenings = (context: InsightContext, from: number): Promise<Part<Reopenings>> =>
  attemptPart(context, auditLogs.list, async () => {
    const args = { action: REOPENED_ACTION, from: formatTimestamp(from), statusCode: DONE };
    const { rows, isCut } = await readEntries(context, args, MOST_REOPENED / PAGE_ROWS);
    const reopenings: DatedReopening[] = [];
    await forEachInTurns(rows.toReversed(), ({ timestamp, metadata }) => {
      const reopening = parseReopening(metadata);
      if (reopening !== undefined) reopenings.push({ ...reopening, at: Date.parse(timestamp) });
    });
    return { reopenings, unnamed: rows.length - reopenings.length, isCut };
  });
