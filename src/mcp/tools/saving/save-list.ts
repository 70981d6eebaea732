import { type CallArguments, findRowSchema } from "../../../contract/operation.ts";
import type { Reply } from "../../../client/port.ts";
import { MINUTE } from "../../../kit/clock.ts";
import type { Row } from "../../files/saved/cells.ts";
import { readAllRows } from "../../results/pages.ts";
import type { RowChoice } from "../../results/rows.ts";
import { wordsFor } from "../../results/status-words.ts";
import { readTenantCalendar } from "../tenant-calendar.ts";
import type { ToolContext, Working } from "../tool-context.ts";
import { columnsOfList } from "./columns.ts";
import type { Saving } from "./save.ts";

/** A list of 1,000,000 rows takes that long. Hosts are told how far it is. */
const MOST_MS = 5 * MINUTE;

type Needs = {
  rows: RowChoice;
  /** The arguments as the caller sent them. */
  args: CallArguments;
  ask: (args: CallArguments) => Promise<Reply>;
};

/** Prepares a whole list to be saved: its pages are read while they are written, as far as time allows. */
export const prepareList = async (
  context: ToolContext,
  { tool, signal }: Working,
  { rows, args, ask }: Needs,
): Promise<Saving> => {
  const { operation } = tool;
  const { calendar, notes } = await readTenantCalendar({ ...context, signal });
  const until = context.now() + MOST_MS;
  const limits: string[] = [...notes];
  const toWords = wordsFor(operation);
  const read = async function* (): AsyncGenerator<readonly Row[]> {
    let isLate = false;
    for await (const page of readAllRows(operation, rows.args, ask)) {
      if (isLate) {
        limits.push(`The table has the rows that were read in ${MOST_MS / MINUTE} minutes.`);
        return;
      }
      yield page.map((row) => toWords(rows.shape(row)));
      isLate = context.now() >= until;
    }
  };
  return {
    columns: columnsOfList(findRowSchema(operation.output), rows.names),
    rows: read(),
    zone: calendar.zone,
    filter: { timeZone: calendar.zone.name, ...args },
    notes: () => limits,
    structured: {},
  };
};
