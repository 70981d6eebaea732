import { type RawBuilder, sql } from "kysely";
import { toLikePattern } from "./audit-logs.ts";
import { getDialect, type SearchTarget } from "./dialect.ts";
import { fold } from "./fold.ts";
import type { Db } from "./port.ts";

// Two characters stand before each value, so that triples of characters also find the beginnings of values.
const START = "\n\n";
const TRIPLE = 3;

const withoutBreaks = (text: string): string => fold(text).replaceAll("\n", " ");

/** Returns the text in which a record is found by the parts of these values. */
export const toSearchText = (values: readonly (string | undefined)[]): string =>
  values.flatMap((value) => (value === undefined ? [] : [START + withoutBreaks(value)])).join("");

const listTriples = (text: string): string[] => {
  const points = [...text];
  const starts = points.slice(0, 1 - TRIPLE);
  return [...new Set(starts.map((_, place) => points.slice(place, place + TRIPLE).join("")))];
};

// Above, all rows are read in the order of the list: among so many, a page is found soon.
const MOST_FOUND = 2000;

/** Creates the condition of rows that contain a text; a text of fewer than 3 characters must begin a value. */
export const findText = async (
  db: Db,
  target: SearchTarget,
  tenantId: string,
  text: string,
): Promise<RawBuilder<boolean>> => {
  const part = withoutBreaks(text);
  const sought = [...part].length < TRIPLE ? START + part : part;
  const triples = listTriples(sought);
  const index = getDialect(db).search;
  const holds = sql<boolean>`search_text like ${toLikePattern(sought)} escape '\\'`;
  const found = await index.findTriples(db, target, { tenantId, triples, most: MOST_FOUND });
  return found === undefined ? holds : sql<boolean>`${found} and ${holds}`;
};
