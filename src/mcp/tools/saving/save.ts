import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { Problem } from "../../../contract/errors.ts";
import { DAY, formatTimestamp, HOUR } from "../../../kit/clock.ts";
import { getMessage } from "../../../kit/error.ts";
import { randomId } from "../../../kit/ids.ts";
import { writeNewFile } from "../../../kit/write-new-file.ts";
import type { Tool } from "../../../../tools/tool.ts";
import { writeCsv } from "../../files/saved/csv.ts";
import { SAVED_TYPES, type SavedName } from "../../results/saved-files.ts";
import type { Row } from "../../files/saved/cells.ts";
import type { Facts, Table } from "../../files/saved/table.ts";
import { present } from "../../results/answer.ts";
import type { Fields } from "../../results/budget.ts";
import { SAVED } from "../../results/resource-uris.ts";
import type { SaveOptions } from "../arguments/save-options.ts";
import { bindingOf, toPurpose } from "../binding.ts";
import type { ToolContext, Working } from "../tool-context.ts";

/** The rows to save, and the notes on them in the answer and in the table. */
export type Saving = Pick<Table, "columns" | "rows" | "zone"> & {
  /** The conditions as applied. */
  filter: Fields;
  /** Sentences about what limits the rows; read after the last one. */
  notes: () => readonly string[];
  /** The answer beside the saved table. */
  structured: Fields;
};

/** A row more than a sheet has beside its header. */
const MAX_ROWS = 1_048_575;
const CUT = `The table ends after ${MAX_ROWS.toLocaleString("en-US")} rows, the most of a sheet, and there are more. Save the rest with other filters.`;
const RANDOM = 8;

/** Returns the name under which the caller's own saved table lies. */
export const nameSaved = (
  context: Pick<ToolContext, "caller" | "broker">,
  name: string,
): SavedName => {
  const purpose = toPurpose(context, { name: "saved" }, null);
  return { tenantId: context.broker.tenantId, owner: bindingOf(purpose), name };
};

const toText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** Counts the rows that pass, and ends after as many as a sheet has. */
const createCounter = (saving: Saving, report: (rows: number) => Promise<void>) => {
  let count = 0;
  let isCut = false;
  return {
    count: () => count,
    limits: (): string[] => (isCut ? [CUT] : []),
    async *rows(): AsyncGenerator<readonly Row[]> {
      for await (const rows of saving.rows) {
        const fitting = rows.slice(0, MAX_ROWS - count);
        isCut = fitting.length < rows.length;
        count += fitting.length;
        yield fitting;
        if (isCut) return;
        await report(count);
      }
    },
  };
};

const NOT_OFFERED = "This server has no place for saved tables.";

/** Describes where a saved table is, beside its resource. */
const describePlaces = async (
  { saved, saveFolder, savedLink, now }: ToolContext,
  file: SavedName,
): Promise<{ places: Fields; notes: string[] }> => {
  const expiresAt = now() + HOUR;
  const url = savedLink?.(file, expiresAt);
  const link = url === undefined ? {} : { url, urlExpiresAt: formatTimestamp(expiresAt) };
  if (saveFolder === undefined) return { places: link, notes: [] };
  try {
    const opened = await saved?.open(file);
    if (opened === undefined) return { places: link, notes: [] };
    const path = join(saveFolder, file.name);
    await writeNewFile(path, opened.bytes);
    return { places: { ...link, path }, notes: [] };
  } catch (error) {
    const why = `It is not in RECEIVABLES_SAVE_FOLDER: ${getMessage(error)}`;
    return { places: link, notes: [`${why}. The resource has it.`] };
  }
};

const write = async (
  table: Table,
  { format, about }: SaveOptions,
  at: number,
): Promise<AsyncIterable<Uint8Array>> => {
  if (format === "csv") return writeCsv(table, about);
  const { writeXlsx } = await import("../../files/saved/xlsx.ts");
  return writeXlsx(table, new Date(at));
};

/** Saves the whole result of a tool as a file that its caller can read for a day. */
export type Save = (
  call: Pick<Working<Tool>, "tool" | "progress">,
  options: SaveOptions,
  saving: Saving,
) => Promise<CallToolResult>;

export const createSave =
  (context: ToolContext): Save =>
  async ({ tool, progress }, options, saving) => {
    const { saved, now, newId = randomId } = context;
    if (saved === undefined) throw new Problem("unavailable", NOT_OFFERED);
    const at = now();
    const day = formatTimestamp(at).slice(0, "2026-01-31".length);
    const random = newId().replaceAll("-", "").slice(-RANDOM);
    const name = `${tool.name}-${day}-${random}.${options.format}`;
    const file = nameSaved(context, name);
    const counter = createCounter(saving, (rows) => progress(`Wrote ${rows} rows.`));
    const facts = (): Facts => [
      ["tool", tool.name],
      ["asOf", formatTimestamp(at)],
      ...Object.entries(saving.filter).map(([key, value]) => [key, toText(value)] as const),
      ["rows", counter.count()],
      ...[...saving.notes(), ...counter.limits()].map((note) => ["note", note] as const),
    ];
    const table = { ...saving, rows: counter.rows(), facts };
    const size = await saved.put(file, await write(table, options, at));
    const { places, notes } = await describePlaces(context, file);
    const mimeType = SAVED_TYPES[options.format];
    const uri = SAVED + name;
    const structured = {
      saved: {
        uri,
        name,
        mimeType,
        rows: counter.count(),
        size,
        ...places,
        deletedAt: formatTimestamp(at + DAY),
      },
      ...saving.structured,
    };
    const beside = "notes" in structured ? [] : saving.notes();
    const all = [...beside, ...counter.limits(), ...notes];
    const answer = present({ structured, notes: all, etag: null });
    const link = { type: "resource_link" as const, uri, name, mimeType, size };
    return { ...answer, content: [...answer.content, link] };
  };
