import { DatabaseSync } from "node:sqlite";
import type { Fault } from "../../contract/errors.ts";
import type { RowIdentity } from "./target.ts";

const MOST_CONTRADICTIONS = 100_000;

type Facts = RowIdentity["facts"];

/** The lines that contradict each other, and the number of the fact in which they differ. */
type Contradiction = { first: number; other: number; fact: number };

/** Returns the number of the first fact that both have and that differs; -1 if there is none. */
const findDifference = (one: Facts, other: Facts): number =>
  one.findIndex((fact, place) => {
    const second = other[place] ?? null;
    return fact !== null && second !== null && fact !== second;
  });

/**
 * Finds rows of a file that name one record and contradict each other, before any row is written. The keys of a large
 * file do not fit in memory, so they go to a temporary file.
 */
export const createSurvey = () => {
  // An empty name is a temporary database that SQLite deletes when it is closed.
  const database = new DatabaseSync("");
  database.exec("pragma journal_mode = off");
  database.exec("pragma temp_store = file");
  database.exec("create table met (key text primary key, facts text, first integer) without rowid");
  database.exec("begin");
  const insert = database.prepare("insert into met values (?, ?, ?) on conflict do nothing");
  const find = database.prepare("select facts, first from met where key = ?");
  const update = database.prepare("update met set facts = ? where key = ?");
  const found = new Map<string, Contradiction>();
  const compare = ({ key, facts }: RowIdentity, text: string, line: number): void => {
    const { facts: stored, first } = find.get(key) ?? {};
    if (stored === text || found.has(key)) return;
    const known = JSON.parse(String(stored)) as Facts;
    const fact = findDifference(known, facts);
    if (fact === -1)
      update.run(JSON.stringify(known.map((one, at) => one ?? facts[at] ?? null)), key);
    else if (found.size < MOST_CONTRADICTIONS)
      found.set(key, { first: Number(first), other: line, fact });
  };
  return {
    add(row: RowIdentity, line: number): void {
      const text = JSON.stringify(row.facts);
      if (insert.run(row.key, text, line).changes === 0) compare(row, text, line);
    },
    /** Returns the fault of a row that another one contradicts. Valid after the survey is closed, too. */
    judge({ field, key, names = [] }: RowIdentity, line: number): Fault | undefined {
      const contradiction = found.get(key);
      if (contradiction === undefined) return undefined;
      const { first, other, fact } = contradiction;
      const elsewhere = line === first ? other : first;
      const name = names[fact];
      const what = name === undefined ? "other values" : `another ${name}`;
      const message = `stands in line ${elsewhere} too, with ${what}; rows of one record must agree, so none of them is imported`;
      return { field, code: "contradiction", message };
    },
    close: (): void => database.close(),
  };
};

export type Survey = ReturnType<typeof createSurvey>;
