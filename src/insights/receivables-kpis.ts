import { z } from "zod";
import { contract } from "../contract/index.ts";
import { Day, ItemLimit, wordAmong } from "../contract/insights/arguments.ts";
import { ExactNumber, GroupKey, toExactNumber } from "../contract/insights/result.ts";
import { omitNulls } from "./brief.ts";
import { defineInsight, type Fields, type InsightContext } from "./insight.ts";
import { createDisputeFigures, type DisputeFacts, readDisputeFacts } from "./kpi-disputes.ts";
import {
  type DocumentFacts,
  NO_RECEIVABLES,
  NO_SALES,
  readDocumentFacts,
  type Receivables,
} from "./kpi-documents.ts";
import { ACCOUNT_GROUPINGS, type AccountGrouping, type Cell, toCellId } from "./kpi-groups.ts";
import { KPI_MEASURES, KPI_UNITS, type KpiFacts, measureAll } from "./kpi-measures.ts";
import { choosePeriods, type KpiPeriod, toMonthKey } from "./kpi-periods.ts";
import { readRecovered, type Recovered } from "./kpi-recovered.ts";
import { mapInTurns } from "../kit/in-turns.ts";
import { selectItemsOf } from "./groups.ts";
import { attemptPart, type Part } from "./read-part.ts";

const { disputes, documents } = contract;

const GROUPINGS = ["month", ...ACCOUNT_GROUPINGS] as const;

/** The third grouping of a summary of documents is the age. */
const MOST_ACCOUNT_GROUPINGS = 2;
const GROUPS_PER_TURN = 20;
const MEASURES = Object.keys(KPI_MEASURES).length;

/** All measures of one period in three currencies. */
const USUAL_ITEMS = 3 * MEASURES;

const Body = z.strictObject({
  from: Day.optional().describe("default: three full months before today's"),
  to: Day.optional().describe("inclusive"),
  groupBy: z
    .array(wordAmong(GROUPINGS), 'must be a list, such as ["month"]')
    .refine(
      (names) => new Set(names.filter((name) => name !== "month")).size <= MOST_ACCOUNT_GROUPINGS,
      { error: `must have at most ${MOST_ACCOUNT_GROUPINGS} groupings besides month` },
    )
    .default([])
    .meta({ description: GROUPINGS.join(", ") }),
  limit: ItemLimit.default(USUAL_ITEMS).describe(`items; default ${USUAL_ITEMS}`),
});

const KpiItem = z.object({
  key: GroupKey,
  currencyCode: z.string().nullable(),
  measure: z.string().meta({ description: Object.keys(KPI_MEASURES).join(", ") }),
  value: ExactNumber.nullable().meta({ description: "null: see reason; shares from 0 to 1" }),
  unit: z.enum(KPI_UNITS),
  numerator: ExactNumber.nullable().optional(),
  denominator: ExactNumber.nullable().optional(),
  rows: z
    .int()
    .optional()
    .meta({ description: "open documents at the end, or disputes that count" }),
  formula: z.string().optional().meta({ description: "where items are short, once per measure" }),
  reason: z.string().optional().meta({ description: "why there is no value" }),
});

type Parts = { documents: Part<DocumentFacts>; disputes: Part<DisputeFacts>; recovered: Recovered };

/** Returns what was read of a part; undefined if it was refused. */
const readValue = <T>(part: Part<T>): T | undefined =>
  part.refused === undefined ? part.value : undefined;

const describeReach = (first: string | undefined): string =>
  first === undefined
    ? "There are no documents."
    : `The documents begin on ${first}: records do not reach back far enough.`;

/** The figures of a group in a period, or why they are unknown. */
const factsOf = (
  { documents: ledger, disputes: claims, recovered }: Parts,
  period: KpiPeriod,
  id: string,
): KpiFacts => {
  const { days } = period;
  const refusedClaims = claims.refused?.reason;
  const rest = {
    days,
    recovered,
    disputes:
      refusedClaims ?? readValue(claims)?.periods.get(period)?.get(id) ?? createDisputeFigures(),
    unknownReopenings: readValue(claims)?.unknownReopenings(period),
  };
  if (ledger.refused !== undefined) {
    const { reason } = ledger.refused;
    return { ...rest, opening: reason, closing: reason, sales: reason, countback: reason };
  }
  const { first, periods } = ledger.value;
  const own = periods.get(period);
  const why = describeReach(first);
  return {
    ...rest,
    opening: own?.opening === undefined ? why : (own.opening.get(id) ?? NO_RECEIVABLES),
    closing: own?.closing === undefined ? why : (own.closing.get(id) ?? NO_RECEIVABLES),
    sales: own?.sales === undefined ? why : (own.sales.get(id) ?? NO_SALES),
    countback: own?.countback.get(id) ?? why,
  };
};

/** Lists the groups: those with figures in some period, else all currencies where nothing is grouped by account. */
const listCells = (parts: Parts, groupings: readonly AccountGrouping[]): [string, Cell][] => {
  const cells = new Map([
    ...(readValue(parts.documents)?.cells ?? []),
    ...(readValue(parts.disputes)?.cells ?? []),
  ]);
  if (cells.size > 0 || groupings.length > 0) return [...cells];
  return (readValue(parts.documents)?.currencies ?? []).map((currencyCode) => {
    const cell = { key: {}, currencyCode };
    return [toCellId(cell), cell];
  });
};

/** The receivables at the end of the last period, by group. */
const lastReceivables = (parts: Parts, periods: readonly KpiPeriod[]) => {
  const last = periods.at(-1);
  return (
    (last && readValue(parts.documents)?.periods.get(last)?.closing) ?? new Map<string, never>()
  );
};

/** Returns the first groups by what they owe at the end, the largest first. */
const selectCells = (
  cells: readonly [string, Cell][],
  receivables: ReturnType<typeof lastReceivables>,
  limit: number,
) => {
  const owed = (id: string) => receivables.get(id)?.total ?? NO_RECEIVABLES.total;
  return selectItemsOf(
    cells,
    { limit },
    ([a], [b]) => owed(b).cmp(owed(a)) || (a < b ? -1 : Number(a > b)),
  );
};

const sumReceivables = (
  cells: ReadonlyMap<string, Cell>,
  receivables: ReturnType<typeof lastReceivables>,
) => {
  const totals = new Map<string | null, { count: number; total: Receivables["total"] }>();
  for (const [id, { rows, total }] of receivables) {
    const currencyCode = cells.get(id)?.currencyCode ?? null;
    const before = totals.get(currencyCode) ?? { count: 0, total: NO_RECEIVABLES.total };
    totals.set(currencyCode, { count: before.count + rows, total: before.total.plus(total) });
  }
  return [...totals]
    .toSorted(([, a], [, b]) => b.count - a.count)
    .map(([currencyCode, { count, total }]) => ({
      currencyCode,
      count,
      amount: toExactNumber(total.toFixed()),
    }));
};

/** Reads documents, disputes and payments of the periods; a refusal leaves out its part alone. */
const readParts = async (
  context: InsightContext,
  groupings: readonly AccountGrouping[],
  periods: readonly KpiPeriod[],
): Promise<Parts> => {
  const ledger = await attemptPart(context, documents.summary, () =>
    readDocumentFacts(context, groupings, periods),
  );
  const claims = await attemptPart(context, disputes.list, () =>
    readDisputeFacts(context, groupings, periods),
  );
  const groups = [...(readValue(claims)?.periods.values() ?? [])].flatMap((one) => [
    ...one.values(),
  ]);
  return { documents: ledger, disputes: claims, recovered: await readRecovered(context, groups) };
};

/** Sentences about what limits the figures. */
const describeParts = ({ documents: ledger, disputes: claims }: Parts): string[] => [
  ...(ledger.refused === undefined
    ? ledger.value.notes
    : [`Receivables and sales are unknown: ${ledger.refused.reason}`]),
  ...(claims.refused === undefined
    ? claims.value.notes
    : [`Disputes are unknown: ${claims.refused.reason}`]),
];

const NOT_WHOLE = `A limit above ${USUAL_ITEMS} shows them whole.`;

/** Gives measures in ever shorter forms: the formula of each once, then without what they are computed from. */
function* shortenMeasures(items: readonly Fields[]): Generator<{ items: Fields[]; note: string }> {
  const known = new Set<unknown>();
  const once = items.map((item) => {
    const { formula, ...rest } = item;
    if (known.has(item["measure"])) return rest;
    known.add(item["measure"]);
    return { ...rest, formula };
  });
  yield { items: once, note: `The formula of each measure is shown once to fit. ${NOT_WHOLE}` };
  yield {
    items: items.map(
      ({ formula: _formula, numerator: _part, denominator: _whole, rows: _rows, ...rest }) => rest,
    ),
    note: `Measures are without formula, numerator, denominator and rows to fit. ${NOT_WHOLE}`,
  };
}

/** The measures of a receivables department for periods, in groups, each currency by itself. */
export const receivablesKpis = defineInsight({
  name: "receivables_kpis",
  title: "Measures of receivables",
  input: Body,
  item: KpiItem,
  shortenItems: shortenMeasures,
  needs: [disputes.list],
  async run(context, { from, to, groupBy: names, limit }) {
    const isMonthly = names.includes("month");
    const span = choosePeriods(context, { from, to, isMonthly });
    const { periods } = span;
    const groupings = ACCOUNT_GROUPINGS.filter((name) => names.includes(name));
    const parts = await readParts(context, groupings, periods);
    const receivables = lastReceivables(parts, periods);
    const cells = listCells(parts, groupings);
    const itemsPerCell = periods.length * MEASURES;
    const end = context.skip + limit;
    // Measures of groups that are not shown need not be computed.
    const first = await selectCells(cells, receivables, Math.ceil(end / itemsPerCell));
    const measures = await mapInTurns(
      first.flatMap((cell) => periods.map((period) => ({ cell, period }))),
      ({ cell: [id, { key, currencyCode }], period }) => {
        const whole = isMonthly ? { month: toMonthKey(period), ...key } : key;
        const facts = factsOf(parts, period, id);
        return measureAll(facts).map((one): Fields => ({ key: whole, currencyCode, ...one }));
      },
      GROUPS_PER_TURN,
    );
    const currencyTotals = sumReceivables(new Map(cells), receivables);
    const open = currencyTotals.reduce((sum, { count }) => sum + count, 0);
    return {
      asOf: span.to,
      filter: {
        ...omitNulls({ from: span.from, to: span.to, groupBy: [...new Set(names)] }),
        timeZone: context.calendar.zone.name,
      },
      rowCount: open + (readValue(parts.disputes)?.rows ?? 0),
      truncated:
        readValue(parts.documents)?.truncated === true ||
        readValue(parts.disputes)?.truncated === true,
      currencyTotals,
      itemsTotal: cells.length * itemsPerCell,
      notes: [...span.notes, ...describeParts(parts)],
      items: measures.flat().slice(context.skip, end),
    };
  },
});
