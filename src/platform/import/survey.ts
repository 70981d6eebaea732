import { type Fault, Problem } from "../../contract/errors.ts";
import type { RowIdentity } from "./target.ts";
import { openTemporary } from "./temporary.ts";

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

const MOST_IN_MEMORY = 100_000;

/** The facts of a record as JSON, and the line that named it first. */
type Met = { text: string; first: number };

const openFile = () => {
  const database = openTemporary(
    "met (key text primary key, facts text, first integer) without rowid",
  );
  const insert = database.prepare("insert into met values (?, ?, ?) on conflict do nothing");
  const find = database.prepare("select facts, first from met where key = ?");
  const update = database.prepare("update met set facts = ? where key = ?");
  return {
    /** Adds a record; returns what is known of it already. */
    meet(key: string, { text, first }: Met): Met | undefined {
      if (insert.run(key, text, first).changes !== 0) return undefined;
      const known = find.get(key);
      return { text: String(known?.["facts"]), first: Number(known?.["first"]) };
    },
    update: (key: string, { text }: Met): unknown => update.run(text, key),
    close: (): void => database.close(),
  };
};

/** The records of a file. Those that do not fit in memory go to a temporary file. */
const createRecords = () => {
  const memory = new Map<string, Met>();
  let file: ReturnType<typeof openFile> | undefined;
  return {
    /** Adds a record; returns what is known of it already. */
    meet(key: string, met: Met): Met | undefined {
      const known = memory.get(key);
      if (known !== undefined) return known;
      if (memory.size >= MOST_IN_MEMORY) return (file ??= openFile()).meet(key, met);
      memory.set(key, met);
      return undefined;
    },
    update(key: string, met: Met): void {
      if (memory.has(key)) memory.set(key, met);
      else file?.update(key, met);
    },
    close(): void {
      memory.clear();
      file?.close();
    },
  };
};

/** Creates the refusal of a file of which not every contradiction can be remembered: none may pass unseen. */
const createTooMany = (line: number): Problem => {
  const found = `by line ${line} more than ${MOST_CONTRADICTIONS} records are named by rows that contradict each other`;
  return new Problem("invalid_request", `The file is refused: ${found}. Nothing was changed.`);
};

/** Finds rows of a file that name one record and contradict each other, before any row is written. */
export const createSurvey = () => {
  const records = createRecords();
  const found = new Map<string, Contradiction>();
  return {
    add({ key, facts }: RowIdentity, line: number): void {
      const text = JSON.stringify(facts);
      const met = records.meet(key, { text, first: line });
      if (met === undefined || met.text === text || found.has(key)) return;
      const known = JSON.parse(met.text) as Facts;
      const fact = findDifference(known, facts);
      if (fact === -1) {
        const joined = known.map((one, at) => one ?? facts[at] ?? null);
        records.update(key, { ...met, text: JSON.stringify(joined) });
      } else {
        found.set(key, { first: met.first, other: line, fact });
        if (found.size > MOST_CONTRADICTIONS) throw createTooMany(line);
      }
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
    close: (): void => records.close(),
  };
};

export type Survey = ReturnType<typeof createSurvey>;
