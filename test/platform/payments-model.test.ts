import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { CATALOGUE, type Source, SOURCES } from "../../src/contract/payments/catalogue.ts";
import type { Field } from "../../src/contract/payments/field.ts";
import {
  type Caller,
  onEveryStore,
  startPlatform,
  type TestPlatform,
  useExportCaller,
} from "../support/platform.ts";
import { extentOf } from "../support/extent.ts";
import { kept, type Row } from "../support/payment-model.ts";
import { load, paymentRow, paymentRows, QUERY } from "../support/payment-rows.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const COUNT = 80;
const TENANT = "model";

const ask = async (call: Caller, body: object) => {
  const reply = await call("POST", QUERY, { body });
  expect(reply.status, reply.text).toBe(200);
  return reply.body;
};

/** Values of a field that rows have, and some that none has. */
const valueOf = (rows: readonly Row[], field: Field): fc.Arbitrary<unknown> => {
  const had = [...new Set(rows.map((row) => row[field.name]))].filter((value) => value !== null);
  if (field.type === "enum") return fc.constantFrom(...field.values);
  if (field.type === "boolean") return fc.boolean();
  return fc.constantFrom(...had);
};

const piece = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.nat(8), fc.integer({ min: 1, max: 4 }), fc.boolean())
    .map(([text, from, size, upper]) => {
      const cut = String(text).slice(from, from + size) || "%";
      return upper ? cut.toUpperCase() : cut;
    });

const askedOf = (value: fc.Arbitrary<unknown>, operator: string): fc.Arbitrary<unknown> => {
  if (operator === "isNull") return fc.boolean();
  if (operator === "between") return fc.tuple(value, value);
  if (["in", "nin"].includes(operator)) return fc.array(value, { minLength: 1, maxLength: 4 });
  const inText = ["contains", "startsWith", "endsWith"].includes(operator);
  return inText ? piece(value).filter((text) => text.isWellFormed()) : value;
};

const filtersOf = (source: Source, rows: readonly Row[]): fc.Arbitrary<Row> => {
  const condition = fc.constantFrom(...CATALOGUE[source].fields).chain((field) =>
    fc
      .constantFrom(...field.operators)
      .chain((operator) =>
        askedOf(valueOf(rows, field), operator).map((asked) => ({ [operator]: asked })),
      )
      .map((conditions): Row => ({ [field.name]: conditions })),
  );
  const { filters } = fc.letrec<{ filters: Row }>((tie) => ({
    filters: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      condition,
      fc.tuple(condition, condition).map(([a, b]) => ({ ...a, ...b })),
      fc.array(tie("filters"), { minLength: 1, maxLength: 3 }).map((parts) => ({ or: parts })),
      fc.array(tie("filters"), { minLength: 1, maxLength: 3 }).map((parts) => ({ and: parts })),
      tie("filters").map((part) => ({ not: part })),
    ),
  }));
  return filters;
};

const namesOf = (source: Source): string[] => CATALOGUE[source].fields.map(({ name }) => name);

onEveryStore("payments against a model", (at) => {
  const call = useExportCaller(at, TENANT);
  const all = new Map<Source, Row[]>();

  beforeAll(async () => {
    await at().tenant(TENANT);
    for (const source of SOURCES) {
      await load(at(), TENANT, source, paymentRows(source, COUNT));
      const { data } = await ask(call, { source, fields: namesOf(source), limit: 1000 });
      all.set(source, data);
    }
  });

  verifies("QY-05", "QY-06", "C-49");
  it.each(SOURCES)("return the rows that match any filters of %s", async (source) => {
    const rows = all.get(source) ?? [];
    expect(rows).toHaveLength(COUNT);
    await fc.assert(
      fc.asyncProperty(filtersOf(source, rows), async (filters) => {
        const { data } = await ask(call, { source, filters, fields: ["id"], limit: 1000 });
        const expected = rows.filter((row) => kept(row, filters));
        expect(data.map(({ id }: Row) => id)).toEqual(expected.map(({ id }) => id));
      }),
      { numRuns: extentOf(30, 150), seed: 20_261_121 },
    );
  });

  verifies("QY-07", "C-13");
  it("returns each row once, in its place and as it is now, while rows are written", async () => {
    let walks = 0;
    const write = fc.record({ kind: fc.constantFrom("add", "change"), place: fc.nat(200) });
    const steps = fc.array(
      fc.record({
        limit: fc.integer({ min: 1, max: 9 }),
        writes: fc.array(write, { maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const tenantId = `walk-${(walks += 1)}`;
        await at().tenant(tenantId);
        const caller = await at().exportCaller(tenantId);
        const stored = new Map(paymentRows("bpn", 25).map((row) => [row["id"], row]));
        await load(at(), tenantId, "bpn", [...stored.values()]);
        const start = [...stored.keys()];
        const walked: [unknown, unknown][] = [];
        let next = 26;
        let cursor: string | null = null;
        for (let step = 0; ; step += 1) {
          const { limit, writes } = plan[step] ?? { limit: 9, writes: [] };
          const more: object = cursor === null ? {} : { cursor };
          const fields = ["id", "payerName"];
          const { data, pagination } = await ask(caller, { source: "bpn", fields, limit, ...more });
          for (const row of data) {
            expect(row.payerName).toBe(stored.get(row.id)?.["payerName"] ?? null);
            walked.push([row.id, row.payerName]);
          }
          ({ cursor } = pagination);
          if (cursor === null) break;
          const written = writes.map(({ kind, place }) =>
            kind === "add"
              ? paymentRow("bpn", next++)
              : { ...paymentRow("bpn", 1 + (place % 25)), payerName: `changed ${step} ${place}` },
          );
          const byId = new Map(written.map((row) => [row["id"], row]));
          for (const [id, row] of byId) stored.set(id, row);
          await load(at(), tenantId, "bpn", [...byId.values()]);
        }
        expect(walked.map(([id]) => id)).toEqual(start);
      }),
      { numRuns: extentOf(3, 12), seed: 20_261_121 },
    );
  });
});

verifies("C-08");
it("both databases return the same bytes", async () => {
  const answers = async (at: TestPlatform): Promise<string[]> => {
    const texts: string[] = [];
    await at.tenant(TENANT);
    const call = await at.exportCaller(TENANT);
    for (const source of SOURCES) {
      const odd = {
        payerName: 'tab\t quote" \\ \u0001 \u2028 Ünïcødé 🙂 </script>',
        poNumber: "x\ny",
      };
      await load(at, TENANT, source, [
        ...paymentRows(source, 40),
        { ...paymentRow(source, 41), ...odd },
      ]);
      const bodies = [
        { source, fields: namesOf(source) },
        { source, filters: { currencyCode: { startsWith: "e" } }, limit: 3 },
        { source, filters: { createdAt: { gt: "2000-01-01" } }, fields: ["paymentAmount", "id"] },
        { source, filters: { nope: { eq: 1 } } },
      ];
      for (const body of bodies) {
        const reply = await call("POST", QUERY, { body });
        texts.push(reply.text.replaceAll(/"(cursor|requestId)":"[^"]*"/g, ""));
      }
    }
    return texts;
  };
  const platforms = await Promise.all(dialects.map((dialect) => startPlatform(dialect)));
  try {
    const [one, two] = await Promise.all(platforms.map(answers));
    expect(one).toEqual(two);
    expect(one).toHaveLength(12);
  } finally {
    await Promise.all(platforms.map((platform) => platform.close()));
  }
});
