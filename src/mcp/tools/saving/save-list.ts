import { type CallArguments, findRowSchema } from "../../../contract/operation.ts";
import type { Reply } from "../../../client/port.ts";
import { Problem } from "../../../contract/errors.ts";
import { MINUTE, SECOND } from "../../../kit/clock.ts";
import { systemWait } from "../../../kit/wait.ts";
import type { Row } from "../../files/saved/cells.ts";
import { readAllRows } from "../../results/pages.ts";
import type { RowChoice } from "../../results/rows.ts";
import { formOf } from "../../results/record-form.ts";
import { readTenantCalendar } from "../tenant-calendar.ts";
import type { ToolContext, Working } from "../tool-context.ts";
import { columnsOfList } from "./columns.ts";
import type { Saving } from "./save.ts";

/** Reading a list of 1,000,000 rows takes about 5 minutes. Hosts are told how far it is, and can cancel it. */
const MOST_MS = 30 * MINUTE;

const tooLong = (count: number): Problem =>
  new Problem(
    "payload_too_large",
    `Reading took ${MOST_MS / MINUTE} minutes for ${count.toLocaleString("en-US")} rows, and there are more. Nothing was saved. Save the list in parts, with filters such as days or accounts.`,
  );

/** Pauses before a page is asked for again, unless the platform names a longer one. */
const PAUSES_MS = [SECOND, 5 * SECOND, 20 * SECOND];

/** Whether the platform refuses only for now. */
const isTemporary = (error: unknown): error is Problem =>
  error instanceof Problem &&
  (error.code === "rate_limited" || error.code === "unavailable") &&
  error.details.misconfigured !== true;

/** Asks for a later page again where it is refused for now, because the pages before it would be lost. */
const askPatiently = (
  { wait = systemWait }: Pick<ToolContext, "wait">,
  signal: AbortSignal,
  ask: Needs["ask"],
): Needs["ask"] => {
  let hasRead = false;
  const attempt = async (args: CallArguments, tries: number): Promise<Reply> => {
    try {
      const reply = await ask(args);
      hasRead = true;
      return reply;
    } catch (error) {
      const pause = PAUSES_MS[tries];
      if (!hasRead || pause === undefined || signal.aborted || !isTemporary(error)) throw error;
      const named = (error.details.retryAfterSeconds ?? 0) * SECOND;
      if (named > MINUTE) throw error;
      await wait.sleep(Math.max(pause, named), signal);
      return attempt(args, tries + 1);
    }
  };
  return (args) => attempt(args, 0);
};

type Needs = {
  rows: RowChoice;
  /** The arguments as the caller sent them. */
  args: CallArguments;
  ask: (args: CallArguments) => Promise<Reply>;
};

/**
 * Prepares a whole list to be saved: its pages are read while they are written.
 *
 * @throws {Problem} while rows are read: the platform's refusal, or `payload_too_large` if that takes too long; a part
 *   of a list is never saved as the whole
 */
export const prepareList = async (
  context: ToolContext,
  { tool, signal }: Working,
  { rows, args, ask }: Needs,
): Promise<Saving> => {
  const { operation } = tool;
  const { calendar, notes } = await readTenantCalendar({ ...context, signal });
  const until = context.now() + MOST_MS;
  const toForm = formOf(operation);
  const askPage = askPatiently(context, signal, ask);
  const read = async function* (): AsyncGenerator<readonly Row[]> {
    let count = 0;
    for await (const page of readAllRows(operation, rows.args, askPage)) {
      if (count > 0 && context.now() >= until) throw tooLong(count);
      yield page.map((row) => rows.shape(toForm(row)));
      count += page.length;
    }
  };
  return {
    columns: columnsOfList(findRowSchema(operation.output), rows.names),
    rows: read(),
    zone: calendar.zone,
    filter: { timeZone: calendar.zone.name, ...args },
    notes: () => notes,
    structured: {},
  };
};
