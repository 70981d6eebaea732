import { type Fault, Problem } from "../../contract/errors.ts";
import { createSpillMap } from "../store/engine/spill-map.ts";
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

/** The facts of a record, and the line that named it first. */
type Met = { facts: Facts; first: number };

/** Creates the refusal of a file of which not every contradiction can be remembered: none may pass unseen. */
const createTooMany = (line: number): Problem => {
  const found = `by line ${line} more than ${MOST_CONTRADICTIONS} records are named by rows that contradict each other`;
  return new Problem("invalid_request", `The file is refused: ${found}. Nothing was changed.`);
};

/** Finds rows of a file that name one record and contradict each other, before any row is written. */
export const createSurvey = () => {
  const records = createSpillMap();
  const found = new Map<string, Contradiction>();
  const meet = (key: string, met: Met): void => records.set(key, JSON.stringify(met));
  return {
    add({ key, facts }: RowIdentity, line: number): void {
      const text = records.get(key);
      if (text === undefined) return meet(key, { facts, first: line });
      if (found.has(key)) return;
      const { facts: known, first } = JSON.parse(text) as Met;
      const fact = findDifference(known, facts);
      if (fact === -1) {
        const joined = known.map((one, at) => one ?? facts[at] ?? null);
        meet(key, { facts: joined, first });
      } else {
        found.set(key, { first, other: line, fact });
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
