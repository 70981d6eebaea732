import { type RawBuilder, sql } from "kysely";
import { getDialect, type SearchTarget } from "./dialect.ts";
import { fold } from "./fold.ts";
import { hasMoreCharacters } from "../../../kit/text.ts";
import type { Db } from "../port.ts";

/** Returns the text with the wildcards of `like` taken literally. */
export const escapeWildcards = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/** Returns a pattern for `like … escape '\'` that matches the text anywhere, wildcards taken literally. */
export const toLikePattern = (text: string): string => `%${escapeWildcards(fold(text))}%`;

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

/** Creates the condition of rows that contain a text; a text of fewer than 3 characters must begin a value. */
export const findText = async (
  db: Db,
  target: SearchTarget,
  tenantId: string,
  text: string,
): Promise<RawBuilder<boolean>> => {
  const part = withoutBreaks(text);
  const pattern = !hasMoreCharacters(part, TRIPLE - 1) ? START + part : part;
  const triples = listTriples(pattern);
  const holds = sql<boolean>`search_text like ${toLikePattern(pattern)} escape '\\'`;
  const found = await getDialect(db).search.findTriples(db, target, { tenantId, triples, holds });
  return found === undefined ? holds : sql<boolean>`${found} and ${holds}`;
};
