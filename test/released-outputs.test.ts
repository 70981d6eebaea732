import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  formatFields,
  listOutputs,
  type OutputFields,
  parseFields,
} from "./support/output-fields.ts";
import { published } from "./support/published.ts";
import { verifies } from "./support/verifies.ts";

const FOLDER = new URL("support/released/", import.meta.url);

/** The output fields of a released version, as its OpenAPI document had them. */
const readRelease = (file: string): Map<string, OutputFields> => {
  const text = readFileSync(new URL(file, FOLDER), "utf8");
  const fieldsOf = JSON.parse(text) as Record<string, string>;
  return new Map(Object.entries(fieldsOf).map(([id, fields]) => [id, parseFields(fields)]));
};

const parentOf = (path: string): string =>
  path.includes(".") ? path.replace(/(?:\[\])*\.[^.]+$/, "") : "";

/** Fields that a version does not have, or not always, and that an answer must have now. */
const findNewRequired = (now: OutputFields, then: OutputFields): string[] =>
  [...now]
    .filter(([path, isRequired]) => isRequired && then.get(path) !== true)
    // A field of a new optional object is no new demand on an older platform.
    .filter(([path]) => parentOf(path) === "" || then.has(parentOf(path)))
    .map(([path]) => path);

const findLost = (now: OutputFields, then: OutputFields): string[] =>
  [...then.keys()].filter((path) => !now.has(path));

const outputs = listOutputs(published);

/** The last two versions; a release adds a file and may remove the oldest. */
const releases = readdirSync(FOLDER).toSorted().slice(-2);

describe.each(releases)("outputs since %s", (file) => {
  verifies("HS-10");
  it.each([...readRelease(file)])("%s only gain optional fields", (id, then) => {
    const fields = outputs.get(id) ?? new Map();
    expect({ required: findNewRequired(fields, then), lost: findLost(fields, then) }).toEqual({
      required: [],
      lost: [],
    });
  });
});

describe("the comparison of outputs", () => {
  const then = parseFields("id name? rows rows[].a");

  it("finds a new required field, a field that became required, and a lost one", () => {
    const now = parseFields("id name new rows rows[].b files? files.url");
    expect(findNewRequired(now, then)).toEqual(["name", "new", "rows[].b"]);
    expect(findLost(now, then)).toEqual(["rows[].a"]);
  });

  it("reads fields as it writes them", () => {
    expect(formatFields(then)).toBe("id name? rows rows[].a");
  });
});
