import { abbreviate } from "../../contract/payments/value.ts";
import type { Checked } from "../../contract/faults.ts";
import { isBlank } from "./cells.ts";
import type { Fields } from "./fields.ts";
import { parseImportMap } from "./map.ts";
import { createMapping } from "./mapping.ts";
import { proposeFields, type Proposal } from "./suggest/fields.ts";
import { PLANS } from "./suggest/plans.ts";
import { type Sample, sampleObjects, sampleText, sampleWorkbook } from "./suggest/sample.ts";
import type { TableFormat } from "./formats.ts";

export type SuggestNeeds = {
  kind: string;
  /** The source of payments. */
  source?: string | undefined;
  format: TableFormat;
  /** Opens the file from its start; text as UTF-8. */
  bytes: () => AsyncIterable<Uint8Array>;
  fields: Fields;
  /** The check of the kind's rows, for the preview. */
  parse?: (record: Record<string, unknown>) => Checked<unknown>;
  /** The currency of files that name none, for instance that of the tenant. */
  currency?: string | undefined;
};

/** A proposed map of a file of unknown form, with the first rows as they would be read. */
export type Suggestion = {
  kind: string;
  format: TableFormat;
  delimiter?: string;
  sheet?: string;
  /** The line of the header, counted from 1; absent for NDJSON, whose rows have names of their own. */
  header?: number;
  columns: readonly string[];
  /** The content of MAP.json. */
  map: Record<string, unknown>;
  preview: readonly { line: number; record?: unknown; refused?: string; leftOut?: string }[];
  notes: readonly string[];
};

const SAMPLES: Readonly<Record<TableFormat, typeof sampleText>> = {
  csv: sampleText,
  ndjson: sampleObjects,
  xlsx: sampleWorkbook,
};

const PREVIEW_ROWS = 5;
const MOST_NOTES = 20;

const toCells = (names: readonly string[], cells: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name, place) => [name, cells[place] ?? ""]));

/** A workbook's header is found by its names, so that only text tables and headers below other lines need a number. */
const describeFile = ({ header, delimiter }: Sample): Record<string, unknown> => ({
  ...(header === undefined || header === 1 ? {} : { header }),
  ...(delimiter === undefined || delimiter === "," ? {} : { delimiter }),
});

type Read = { line: number; record?: unknown; refused?: string; leftOut?: string };

/** Reads the rows of the sample as an import with the map would. */
const tryMap = (
  sample: Sample,
  { fields, parse }: SuggestNeeds,
  map: Record<string, unknown>,
): Read[] => {
  const parsed = parseImportMap(JSON.stringify(map), fields);
  const columns = sample.names;
  const mapRow = createMapping(fields, parsed, sample.header === undefined ? null : columns);
  return sample.rows.flatMap(({ line, cells }): Read[] => {
    if (cells.every(isBlank)) return [];
    const mapped = mapRow(toCells(columns, cells));
    const faults = mapped.as === "refused" ? mapped.faults : [];
    if (mapped.as === "record") {
      const checked = parse?.(mapped.record);
      if (checked?.faults === undefined) return [{ line, record: mapped.record }];
      faults.push(...checked.faults);
    }
    if (mapped.as === "leftOut") return [{ line, leftOut: `${mapped.type}: ${mapped.reason}` }];
    if (mapped.as === "skipped") return [{ line, leftOut: "skipped by the map" }];
    const [fault] = faults;
    return [{ line, refused: `${fault?.field ?? ""} ${fault?.message ?? ""}`.trim() }];
  });
};

const describeRead = (read: readonly Read[]): string[] => {
  const refused = read.filter((one) => one.refused !== undefined);
  const left = read.filter((one) => one.leftOut !== undefined);
  const [first] = refused;
  return [
    ...(first === undefined
      ? []
      : [
          `${refused.length} of the first ${read.length} rows would be refused, the first in line ${first.line}: ${first.refused ?? ""}.`,
        ]),
    ...left
      .slice(0, 3)
      .map(({ line, leftOut }) => `Line ${line} would be left out: ${leftOut ?? ""}.`),
  ];
};

/** Names the columns that no field reads. */
const describeUnused = (names: readonly string[], { used }: Proposal): string[] => {
  const unused = names.filter((name) => name !== "" && !used.has(name));
  if (unused.length === 0) return [];
  return [
    `Not read: ${unused
      .slice(0, 30)
      .map((name) => abbreviate(name))
      .join(", ")}.`,
  ];
};

const listMissing = (fields: Fields, map: Record<string, unknown>): string[] => {
  const groups = new Map<string, string[]>();
  for (const [name, { required }] of fields) {
    if (required !== undefined) groups.set(required, [...(groups.get(required) ?? []), name]);
  }
  return [...groups.values()]
    .filter((names) => !names.some((name) => Object.hasOwn(map, name)))
    .map((names) => names.join(" or "));
};

/**
 * Proposes a map for a file of unknown form from its headings and values. Undefined for a file without rows. A field
 * that is required and that no column seems to have is named in the notes.
 */
export const suggestMap = async (needs: SuggestNeeds): Promise<Suggestion | undefined> => {
  const { kind, source, format, bytes, fields } = needs;
  const sample = await SAMPLES[format](bytes());
  const plan = PLANS[source === undefined ? kind : `${kind} ${source}`];
  if (sample === undefined || plan === undefined) return undefined;
  const proposal = proposeFields({ sample, plan, fields, kind, currency: needs.currency });
  const map = { ...describeFile(sample), ...proposal.map };
  const missing = listMissing(fields, map);
  const read = missing.length > 0 ? [] : tryMap(sample, needs, map);
  const notes = [
    ...missing.map((names) => `No column was found for ${names}: add it to the map.`),
    ...proposal.notes,
    ...describeRead(read),
    ...describeUnused(sample.names, proposal),
  ];
  return {
    kind,
    format,
    ...(sample.delimiter === undefined ? {} : { delimiter: sample.delimiter }),
    ...(sample.sheet === undefined ? {} : { sheet: sample.sheet }),
    ...(sample.header === undefined ? {} : { header: sample.header }),
    columns: sample.names,
    map,
    preview: read.slice(0, PREVIEW_ROWS),
    notes: notes.slice(0, MOST_NOTES),
  };
};
