import fc from "fast-check";
import { expect, it } from "vitest";
import { AccountFields } from "../../src/contract/operations/accounts.ts";
import { DocumentFields } from "../../src/contract/operations/documents.ts";
import { createNarrowing } from "../../src/platform/services/ingest/body.ts";

const SCHEMAS = { account: AccountFields, document: DocumentFields };

const value = fc.oneof(
  fc.constantFrom(
    "USD",
    "2026-01-31",
    "A-1",
    "x",
    "",
    "invoice",
    1,
    0,
    -2.5,
    true,
    null,
    undefined,
  ),
  fc.constantFrom([], {}, [{ amount: 1 }], { type: "text" }),
);

for (const [name, schema] of Object.entries(SCHEMAS)) {
  const names = [...Object.keys(schema.shape), "unknown", "__proto__", "constructor"];
  const narrow = createNarrowing(schema);
  it(`${name}: a schema of the fields that are there says what the whole one says`, () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (fields) => {
        const [whole, part] = [schema, narrow(fields)].map((one) =>
          one.safeParse(fields, { reportInput: true }),
        );
        expect(part?.error?.issues).toEqual(whole?.error?.issues);
        expect(JSON.stringify(part?.data)).toBe(JSON.stringify(whole?.data));
      }),
      { numRuns: 2000 },
    );
  });
}

it("caches few schemas, and then uses the whole one", () => {
  const narrow = createNarrowing(DocumentFields);
  const optional = Object.keys(DocumentFields.shape).slice(3);
  const all = optional.flatMap((one) => optional.map((other) => narrow({ [one]: 1, [other]: 1 })));
  expect(new Set(all).size).toBeLessThan(100);
  expect(all.at(-1)).toBe(DocumentFields);
  const [first = "", second = ""] = optional;
  expect(narrow({ [first]: 1, [second]: 1 })).toBe(all[1]);
});
