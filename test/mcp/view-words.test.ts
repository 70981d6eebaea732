import { describe, expect, it } from "vitest";
import { parseDisputeSummary } from "../../src/contract/insights/dispute-summary.ts";
import { TRIAGE_FLAGS, TRIAGE_ORDERS } from "../../src/contract/insights/dispute-triage.ts";
import { parsePaymentSummary, SUMMED_AMOUNT } from "../../src/contract/insights/payment-summary.ts";
import { contract } from "../../src/contract/index.ts";
import { CATALOGUE, isSource } from "../../src/contract/payments/catalogue.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { formatSpan } from "../../src/contract/insights/calendar.ts";
import { localDay, ZONES } from "../support/local-days.ts";
import { verifies } from "../support/verifies.ts";

// Code for browsers has a configuration of its own, so its types are not those of the tests.
const load = async <T>(name: string): Promise<T> =>
  (await import(new URL(`../../src/views/app/${name}`, import.meta.url).href)) as T;

type Fields = Record<string, unknown>;

const SPANS = {
  day: "2026-03-29",
  week: "2026-W13",
  month: "2026-03",
  quarter: "2026-Q1",
  year: "2026",
} as const;

type Words = {
  VISIBILITIES: Record<string, string>;
  ORDERS: Record<string, string>;
  FLAGS: Record<string, string>;
  STATUS: Record<string, string>;
};
type Filters = {
  toggleFlag(args: Fields, flag: string): Fields;
  pageArgs(args: Fields): Fields;
  agingArgs(args: Fields): Fields;
  createdWithin(bucket: string, asOf: string): Fields;
};
type Sources = {
  SOURCES: Record<string, { amount: string; name: string; groupings: string[]; columns: string[] }>;
  groupFilter(key: Fields): Fields;
  rowFilters(filters: Fields, timeZone: string): Fields;
};

describe("the arguments of views", () => {
  verifies("HS-08");
  it("have a visibility, order, flag or status of the contract", async () => {
    const { VISIBILITIES, ORDERS, FLAGS, STATUS } = await load<Words>("words.ts");
    const { body } = contract.dispute_notes.create;
    for (const visibility of Object.keys(VISIBILITIES)) {
      expect(body.safeParse({ content: "x", visibility }).success, visibility).toBe(true);
    }
    expect(body.safeParse({ content: "x", visibility: "External" }).success).toBe(false);
    expect(Object.keys(ORDERS)).toEqual([...TRIAGE_ORDERS]);
    expect(Object.keys(FLAGS)).toEqual([...TRIAGE_FLAGS]);
    for (const status of Object.values(STATUS)) {
      expect(contract.disputes.update.body.safeParse({ status }).success, status).toBe(true);
    }
  });

  it("are accepted by worklist and chart, for every flag, order, age and page", async () => {
    const filters = await load<Filters>("board/filters.ts");
    const asOf = "2026-03-02T09:00:00.000Z";
    const all = [
      ...TRIAGE_FLAGS.map((flag) => filters.toggleFlag({}, flag)),
      ...TRIAGE_ORDERS.map((orderBy) => ({ orderBy })),
      ...["0-30", "31-60", "91+"].map((bucket) => filters.createdWithin(bucket, asOf)),
    ];
    for (const args of all) {
      const sent = JSON.parse(JSON.stringify(filters.pageArgs(args))) as Fields;
      expect(disputesTriage.input.safeParse(sent).success, JSON.stringify(sent)).toBe(true);
      const chart = parseDisputeSummary(filters.agingArgs(sent));
      expect(chart.faults, JSON.stringify(sent)).toBeUndefined();
    }
  });

  it("name fields, groupings and amounts of the payment sources", async () => {
    const { SOURCES, groupFilter } = await load<Sources>("explorer/sources.ts");
    for (const [source, { amount, name, groupings, columns }] of Object.entries(SOURCES)) {
      if (!isSource(source)) throw new Error(`There is no source ${source}.`);
      const known = CATALOGUE[source].fields;
      const names = known.map((field) => field.name);
      expect(names).toEqual(expect.arrayContaining([amount, name, ...columns]));
      expect(amount).toBe(SUMMED_AMOUNT[source]);
      for (const grouping of groupings) {
        const filters = groupFilter({ [grouping]: grouping.includes(":") ? "2023" : "x" });
        const { faults } = parsePaymentSummary({ source, groupBy: [grouping] });
        expect(faults, `${source} ${grouping}`).toBeUndefined();
        expect(Object.keys(filters)).toEqual([grouping.split(":")[0]]);
      }
    }
  });

  verifies("WK-07");
  it("select every row of a span of times, in the tenant's zone", async () => {
    const { groupFilter, rowFilters } = await load<Sources>("explorer/sources.ts");
    for (const zone of ZONES) {
      for (const [unit, span] of Object.entries(SPANS)) {
        const { postedAt } = rowFilters(groupFilter({ [`postedAt:${unit}`]: span }), zone);
        const [first = "", last = ""] = (postedAt as { between: string[] }).between;
        const spanAt = (moment: number): string =>
          formatSpan(localDay(zone, moment), unit as keyof typeof SPANS);
        const [from, to] = [Date.parse(first), Date.parse(last)];
        expect([from - 1, from, to, to + 1].map((moment) => spanAt(moment) === span)).toEqual([
          false,
          true,
          true,
          false,
        ]);
      }
    }
    const day = { between: ["2026-03-01", "2026-03-31"] };
    expect(rowFilters({ paymentDate: day }, "Europe/Berlin")).toEqual({ paymentDate: day });
  });

  it("know the type of a field of payments by its name", () => {
    for (const { fields } of Object.values(CATALOGUE)) {
      for (const { name, type } of fields) {
        expect(name.endsWith("At"), name).toBe(type === "datetime");
        expect(name.endsWith("Date"), name).toBe(type === "date");
      }
    }
  });
});
