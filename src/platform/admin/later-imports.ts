import { formatTimestamp } from "../../kit/clock.ts";
import { findLaterOfKind, putImport } from "../store/queries/imports.ts";
import type { Db } from "../store/port.ts";
import type { ImportRow } from "../store/tables/schema.ts";

type ShownReport = { source?: string; unchanged?: number; undoneSince?: string[] };

/** A later import that found records unchanged, which may be among those that an undo has removed. */
export type Finder = { importId: string; file: string; startedAt: string; unchanged: number };

/**
 * Names the later imports that found records unchanged: a file that was imported twice, for instance. Their records are
 * those of the import that is taken back, so that the reports of these imports say so from now on.
 */
export const markFinders = async (tx: Db, row: ImportRow): Promise<Finder[]> => {
  const own = JSON.parse(row.report) as ShownReport;
  const finders: Finder[] = [];
  for (const later of await findLaterOfKind(tx, row)) {
    const report = JSON.parse(later.report) as ShownReport;
    const { unchanged = 0, undoneSince = [] } = report;
    if (unchanged === 0 || report.source !== own.source) continue;
    finders.push({
      importId: later.id,
      file: later.file,
      startedAt: formatTimestamp(later.started_at),
      unchanged,
    });
    if (undoneSince.includes(row.id)) continue;
    const marked = { ...report, undoneSince: [...undoneSince, row.id] };
    await putImport(tx, { ...later, report: JSON.stringify(marked) });
  }
  return finders;
};

/** What to do about the imports of {@link markFinders}. */
export const FOUND_AGAIN =
  "these later imports found records unchanged, which may be among those that were taken back; import their files again to have them";
