import Big from "big.js";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { formatSpan, openCalendar } from "../../src/contract/insights/calendar.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { paymentsSummarize } from "../../src/insights/payments-summarize.ts";
import { DAY, HOUR, MINUTE } from "../../src/kit/clock.ts";
import { setTenant, showTenant } from "../../src/platform/admin/tenants.ts";
import { insertDisputes } from "../../src/platform/store/queries/disputes.ts";
import type { DisputeRow } from "../../src/platform/store/tables/schema.ts";
import { make } from "../support/configuration.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { INGEST } from "../support/ingest.ts";
import { importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { daysApart, localDay, ZONES } from "../support/local-days.ts";
import { disputeRow } from "../support/many-disputes.ts";
import { load, ndjson, paymentRow, SUMMARY } from "../support/payment-rows.ts";
import { DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "elsewhere";
const COUNT = 150;
const FIRST = Date.UTC(2011, 0, 1);
const LAST = Date.UTC(2026, 1, 20);
const QUARTER = 15 * MINUTE;

/** Days around which clocks changed in one of the zones. */
const CHANGES = [
  "2011-12-30",
  "2018-02-18",
  "2018-11-04",
  "2024-04-14",
  "2025-03-09",
  "2025-03-30",
  "2025-04-06",
  "2025-10-05",
  "2025-10-26",
  "2025-11-02",
].map((day) => Date.parse(day));

/** A moment at or just before a quarter of an hour, mostly around a change of clocks. */
const pickMoment = (dice: Dice): number => {
  const edge = dice.pick([0, 0, -1]);
  if (dice.chance(0.7)) return dice.pick(CHANGES) + dice.whole(-80, 200) * QUARTER + edge;
  return FIRST + dice.whole(1, Math.floor((LAST - FIRST) / QUARTER)) * QUARTER + edge;
};

const createRows = (reason: string): DisputeRow[] => {
  const dice = createDice(11);
  return Array.from({ length: COUNT }, (_, number) => {
    const created = pickMoment(dice);
    const status = dice.pick([0, 1, 1, 2] as const);
    const closed = created + dice.whole(0, 40) * HOUR * 6 + dice.pick([0, QUARTER, -1]);
    const closedAt = status === 0 ? null : Math.max(created, closed);
    const facts = {
      tenant_id: TENANT,
      document_number: `INV-${number}`,
      status,
      assignee_id: null,
      amount: 1,
      createdAt: created,
    };
    return {
      ...disputeRow(number, facts),
      currency_code: "EUR",
      reason_id: reason,
      closed_at: closedAt,
      updated_at: closedAt ?? created,
    };
  });
};

/** A day, or a time with an offset that is not the tenant's. */
const dayOrTime = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...CHANGES),
      fc.integer({ min: FIRST / DAY, max: LAST / DAY }).map((day) => day * DAY),
    ),
    fc.integer({ min: -2, max: 2 }),
    fc.option(fc.integer({ min: 0, max: 95 }), { nil: undefined }),
  )
  .map(([at, days, quarters]) =>
    quarters === undefined
      ? new Date(at + days * DAY).toISOString().slice(0, 10)
      : new Date(at + days * DAY + quarters * QUARTER).toISOString().replace(".000Z", "+00:00"),
  );

const GROUPINGS = ["created:day", "created:week", "closed:day", "closed:month", "age"];

const asked = fc.record(
  {
    groupBy: fc.uniqueArray(fc.constantFrom(...GROUPINGS, "daysToClose", "status"), {
      maxLength: 2,
    }),
    createdFrom: dayOrTime,
    createdTo: dayOrTime,
    closedFrom: dayOrTime,
    closedTo: dayOrTime,
    updatedBefore: dayOrTime,
    olderThanDays: fc.integer({ min: 0, max: 5500 }),
    asOf: dayOrTime,
  },
  { requiredKeys: ["groupBy"] },
);
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

const isTime = (text: string): boolean => text.length > 10;

/** Compares a moment with a day of the zone, or with a time: negative if it is before. */
const compare = (zone: string, moment: number, bound: string): number => {
  if (isTime(bound)) return moment - Date.parse(bound);
  const day = localDay(zone, moment);
  return day < bound ? -1 : Number(day > bound);
};

const isWithin = (
  zone: string,
  moment: number | null,
  from: string | undefined,
  to: string | undefined,
): boolean =>
  (from === undefined || (moment !== null && compare(zone, moment, from) >= 0)) &&
  (to === undefined || (moment !== null && compare(zone, moment, to) <= 0));

const bucketOf = (days: number): string => {
  if (days <= 30) return "0-30";
  if (days <= 60) return "31-60";
  return days <= 90 ? "61-90" : "91+";
};

const tenths = (days: readonly number[]) =>
  days.length === 0
    ? null
    : new Big(days.reduce((sum, one) => sum + one, 0)).div(days.length).round(1).toNumber();

/** The groups of disputes, computed row by row by the engine's calendars. */
const model = (rows: readonly DisputeRow[], zone: string, now: number, query: Asked) => {
  const { groupBy, asOf, olderThanDays = -1 } = query;
  const today =
    asOf === undefined
      ? localDay(zone, now)
      : isTime(asOf)
        ? localDay(zone, Date.parse(asOf))
        : asOf;
  const isBy = (moment: number): boolean => asOf === undefined || compare(zone, moment, asOf) <= 0;
  const standing = rows
    .filter((row) => isBy(row.created_at))
    .map((row) => {
      const closedAt = row.closed_at !== null && isBy(row.closed_at) ? row.closed_at : null;
      const [created, closed] = [row.created_at, closedAt].map((at) =>
        at === null ? null : localDay(zone, at),
      );
      return {
        row,
        closedAt,
        created: created ?? "",
        closed: closed ?? null,
        status: ["Open", "Closed", "Canceled"][closedAt === null ? 0 : row.status] ?? "",
        age: Math.max(0, daysApart(created ?? "", today)),
        daysToClose: closed ? daysApart(created ?? "", closed) : null,
      };
    })
    .filter(
      ({ row, closedAt, age }) =>
        isWithin(zone, row.created_at, query.createdFrom, query.createdTo) &&
        isWithin(zone, closedAt, query.closedFrom, query.closedTo) &&
        isWithin(zone, row.updated_at, undefined, query.updatedBefore) &&
        age > olderThanDays,
    );
  const keyOf = (name: string, one: (typeof standing)[number]) => {
    if (name === "age") return bucketOf(one.age);
    if (name === "daysToClose") return one.daysToClose === null ? null : bucketOf(one.daysToClose);
    if (name === "status") return one.status;
    const [date, unit] = name.split(":");
    const day = date === "created" ? one.created : one.closed;
    return day === null ? null : formatSpan(day, unit as "day");
  };
  const groups = Map.groupBy(standing, (one) =>
    JSON.stringify(groupBy.map((name) => [name, keyOf(name, one)])),
  );
  return [...groups].map(([key, own]) => ({
    key: Object.fromEntries(JSON.parse(key)),
    count: own.length,
    avgAgeDays: tenths(own.filter(({ status }) => status === "Open").map(({ age }) => age)),
    avgDaysToClose: tenths(
      own.filter(({ status }) => status === "Closed").map(({ daysToClose }) => daysToClose ?? 0),
    ),
  }));
};

type Item = ReturnType<typeof model>[number];

const toComparable = (items: readonly unknown[]) =>
  new Set(
    (items as Item[])
      .filter(({ count }) => count > 0)
      .map(({ key, count, avgAgeDays, avgDaysToClose }) => ({
        key,
        count,
        avgAgeDays,
        avgDaysToClose,
      })),
  );

type Sign = (bound: string) => number;

/** Conditions on the time of a posting between two days or times, with what they select by the model. */
const CONDITIONS: [
  name: string,
  filters: (from: string, to: string) => object[],
  selects: (sign: Sign, from: string, to: string) => boolean,
][] = [
  [
    "gte, not gte",
    (from, to) => [{ postedAt: { gte: from } }, { not: { postedAt: { gte: to } } }],
    (sign, from, to) => sign(from) >= 0 && sign(to) < 0,
  ],
  [
    "between",
    (from, to) => [{ postedAt: { between: [from, to] } }],
    (sign, from, to) => sign(from) >= 0 && sign(to) <= 0,
  ],
  [
    "gt and lte",
    (from, to) => [{ postedAt: { gt: from, lte: to } }],
    (sign, from, to) => sign(from) > 0 && sign(to) <= 0,
  ],
  [
    "lt or eq",
    (from, to) => [{ or: [{ postedAt: { lt: from } }, { postedAt: { eq: to } }] }],
    (sign, from, to) => sign(from) < 0 || sign(to) === 0,
  ],
];

onEveryStore("days of the tenant's time zone", (at) => {
  const admin = useTenant(at, TENANT);
  let rows: DisputeRow[];
  let posted: { id: string; postedAt: string }[];

  beforeAll(async () => {
    await make(admin, "/categories", { code: "CAT", description: "Category" });
    const reason = { code: "PRICE", description: "Price", categoryCode: "CAT" };
    const { reasonId } = await make(admin, "/reasons", reason);
    rows = createRows(reasonId);
    await at().store.transaction((tx) => insertDisputes(tx, rows), TENANT);
    const dice = createDice(12);
    posted = Array.from({ length: 60 }, (_, number) => ({
      ...paymentRow("cashapp", number),
      id: `row-${number}`,
      postedAt: new Date(pickMoment(dice)).toISOString(),
    }));
    await load(at(), TENANT, "cashapp", posted);
  });

  const setZone = (zone: string) => setTenant({ store: at().store }, TENANT, [`timeZone=${zone}`]);

  const contextIn = (zone: string): Promise<TestContext> =>
    createTestContext(at(), TENANT, admin, { calendar: openCalendar(zone) });

  verifies("WK-07");
  describe.each(ZONES)("%s", (zone) => {
    it("counts disputes by the days that local clocks show, in the store and page by page", async () => {
      await setZone(zone);
      const context = await contextIn(zone);
      const property = fc.asyncProperty(asked, async (query) => {
        const expected = new Set(model(rows, zone, at().clock(), query));
        const args = { ...query, limit: 200 };
        const { status, body, text } = await admin.call("POST", `${DISPUTES}/summary`, {
          body: args,
        });
        expect(status, text).toBe(200);
        expect(toComparable(body.items)).toEqual(expected);
        expect(body.filter).toMatchObject({ timeZone: zone });
        const read = await runInsight(disputesSummary, context, args);
        expect(toComparable(read.items)).toEqual(expected);
        expect(read.filter).toMatchObject({ timeZone: zone });
      });
      await fc.assert(property, { numRuns: 8 });
    });

    it("counts payments by the days of their times", async () => {
      await setZone(zone);
      const context = await contextIn(zone);
      const call = await at().exportCaller(TENANT);
      const property = fc.asyncProperty(
        fc.constantFrom("day", "week", "month"),
        fc.constantFrom(...CONDITIONS),
        dayOrTime,
        dayOrTime,
        async (unit, [, filtersOf, selects], from, to) => {
          const body = {
            source: "cashapp",
            filters: { and: filtersOf(from, to) },
            groupBy: [`postedAt:${unit}`],
            limit: 200,
          };
          const chosen = posted
            .map(({ postedAt }) => Date.parse(postedAt))
            .filter((moment) => selects((bound) => compare(zone, moment, bound), from, to));
          const counts = Map.groupBy(chosen, (moment) =>
            formatSpan(localDay(zone, moment), unit as "day"),
          );
          const expected = new Map([...counts].map(([span, own]) => [span, own.length]));
          const toCounts = (items: readonly unknown[]) =>
            new Map(
              (items as { key: Record<string, string>; rows: number }[]).map((item) => [
                item.key[`postedAt:${unit}`],
                item.rows,
              ]),
            );
          const reply = await call("POST", SUMMARY, { body });
          expect(reply.status, reply.text).toBe(200);
          expect(toCounts(reply.body.items)).toEqual(expected);
          expect(reply.body.filter).toMatchObject({ timeZone: zone, and: body.filters.and });
          const read = await runInsight(paymentsSummarize, context, body);
          expect(toCounts(read.items)).toEqual(expected);
        },
      );
      await fc.assert(property, { numRuns: 24 });
    });
  });

  verifies("WK-07");
  it("counts days past due to the tenant's day, and leaves due dates as they are", async () => {
    const due = { account_number: "ACC-1", invoice_date: "2026-02-01", due_date: "2026-03-02" };
    const document = {
      document_number: "INV-1",
      document_type: "invoice",
      ...due,
      denomination: 5,
    };
    await importRecords(at(), TENANT, "documents", ndjson([document]), { format: "ndjson" });
    const call = await at().exportCaller(TENANT);
    const groupOf = async (zone: string, asked: object) => {
      await setZone(zone);
      const { body } = await call("POST", `${INGEST}/documents/summary`, { body: asked });
      return body.items.filter((item: Item) => item.count > 0).map((item: Item) => item.key["age"]);
    };
    const asOf = "2026-03-02T11:30:00Z";
    expect(await groupOf("UTC", { asOf })).toEqual(["current"]);
    expect(await groupOf("Pacific/Apia", { asOf })).toEqual(["1-30"]);
    expect(await groupOf("Pacific/Apia", { asOf, dueTo: "2026-03-01" })).toEqual([]);
    expect(await groupOf("Pacific/Apia", { asOf, dueFrom: "2026-03-02T11:15:00Z" })).toEqual([]);
    expect(await groupOf("UTC", { asOf, dueFrom: "2026-03-02T11:15:00Z" })).toEqual(["current"]);
  });

  verifies("WK-07");
  it("takes the IANA name of a zone as a tenant's setting, and no other text", async () => {
    const { store } = at();
    const { settings } = await setZone("europe/berlin");
    expect(settings.timeZone).toBe("Europe/Berlin");
    expect((await showTenant({ store }, TENANT)).settings.timeZone).toBe("Europe/Berlin");
    for (const name of ["", "+01:00", "Mars/Olympus", "true"]) {
      await expect(setZone(name)).rejects.toMatchObject({ code: "invalid_request" });
    }
    const { body } = await admin.call("GET", "/user/v1/users/profile");
    expect(body.tenants).toMatchObject([{ tenantId: TENANT, timeZone: "Europe/Berlin" }]);
  });

  it("leaves the documented list of disputes to the days of UTC", async () => {
    const [day] = ["2018-11-04"];
    const listed = async (zone: string) => {
      await setZone(zone);
      const query = `CreateDateFrom=${day}&CreateDateTo=${day}`;
      const { body } = await admin.call("GET", `${DISPUTES}?${query}`);
      return body.map((one: { disputeCode: string }) => one.disputeCode).toSorted();
    };
    const utc = rows.filter(({ created_at }) => localDay("UTC", created_at) === day);
    const codes = utc.map(({ code }) => code).toSorted();
    expect(codes).not.toEqual([]);
    expect(await listed("Pacific/Apia")).toEqual(codes);
  });
});
