import { expect, it } from "vitest";
import { createOccurrences } from "../../src/platform/import/occurrences.ts";
import { createSurvey } from "../../src/platform/import/survey.ts";
import { verifies } from "../support/verifies.ts";

/** More keys than are held in memory, so that the last ones are in a file. */
const KEYS = 100_002;
const keyOf = (number: number): string => `key-${number}`;

verifies("MN-04");
it("rows that contradict each other are found in memory and in the file", () => {
  const survey = createSurvey();
  const rowOf = (number: number, amount: string | null) => ({
    field: "number",
    key: keyOf(number),
    facts: [amount, null],
    names: ["amount", "date"],
  });
  for (let number = 0; number < KEYS; number += 1) survey.add(rowOf(number, "1"), number + 1);
  for (const number of [0, KEYS - 1]) {
    survey.add(rowOf(number, null), KEYS + 1);
    survey.add(rowOf(number, "2"), KEYS + 2);
  }
  survey.add(rowOf(1, "1"), KEYS + 3);
  survey.close();
  for (const number of [0, KEYS - 1]) {
    expect(survey.judge(rowOf(number, "2"), KEYS + 2)?.message).toMatch(
      `stands in line ${number + 1} too, with another amount`,
    );
    expect(survey.judge(rowOf(number, "1"), number + 1)?.message).toMatch(`line ${KEYS + 2} too`);
  }
  expect(survey.judge(rowOf(1, "1"), KEYS + 3)).toBeUndefined();
});

verifies("MN-04");
it("a file with more contradictions than can be remembered is refused", () => {
  const survey = createSurvey();
  const addPair = (number: number): void => {
    const rowOf = (amount: string) => ({ field: "number", key: keyOf(number), facts: [amount] });
    survey.add(rowOf("1"), 2 * number + 1);
    survey.add(rowOf("2"), 2 * number + 2);
  };
  for (let number = 0; number < 100_000; number += 1) addPair(number);
  expect(() => addPair(100_000)).toThrow("by line 200002 more than 100000 records");
  survey.close();
});

verifies("MN-04");
it("occurrences are counted in memory and in the file", () => {
  const met = createOccurrences();
  for (let number = 0; number < KEYS; number += 1) expect(met.count(keyOf(number))).toBe(1);
  for (const number of [0, KEYS - 1]) {
    expect([met.count(keyOf(number)), met.count(keyOf(number))]).toEqual([2, 3]);
  }
  met.close();
});
