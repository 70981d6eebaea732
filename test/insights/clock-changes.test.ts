import { beforeAll, describe, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { accountStatement } from "../../src/insights/account-statement.ts";
import { changesSince } from "../../src/insights/changes-since.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { documentsSummary } from "../../src/insights/documents-summary.ts";
import type { Insight } from "../../src/insights/insight.ts";
import { receivablesKpis } from "../../src/insights/receivables-kpis.ts";
import { DAY, HOUR, MINUTE } from "../../src/kit/clock.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { dispute } from "../support/configuration.ts";
import { accountAt, documentAt } from "../support/ingest.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { daysApart, localDay } from "../support/local-days.ts";
import {
  type Caller,
  configure,
  DISPUTES,
  onEveryStore,
  type Person,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const ACCOUNT = "C-1";
const QUARTER = 15 * MINUTE;

/**
 * Days with 23 and 25 hours. In Berlin an hour of the night is skipped or repeated; in Santiago the day begins at one, or
 * its last hour is repeated.
 */
const CHANGES = [
  ["Europe/Berlin", "2026-03-29", 23],
  ["Europe/Berlin", "2026-10-25", 25],
  ["America/Santiago", "2026-04-04", 25],
  ["America/Santiago", "2026-09-06", 23],
] as const;

/** Finds the first moment of each day around a day, by the clocks of the JavaScript engine. */
const findDays = (zone: string, day: string): { day: string; from: number; until: number }[] => {
  const starts: { day: string; from: number }[] = [];
  const noon = Date.parse(`${day}T12:00:00.000Z`);
  for (let at = noon - 3 * DAY; at < noon + 3 * DAY; at += QUARTER) {
    const shown = localDay(zone, at);
    if (shown !== starts.at(-1)?.day) starts.push({ day: shown, from: at });
  }
  return starts
    .map((one, place) => ({ ...one, until: starts[place + 1]?.from ?? 0 }))
    .filter(({ day: one }) => Math.abs(daysApart(day, one)) < 2);
};

/** The first and last moments of each day, and those around the third hour, which Berlin skips or repeats. */
const listMoments = (days: ReturnType<typeof findDays>): number[] =>
  days.flatMap(({ from, until }) => [
    from,
    from + HOUR - 1,
    from + 2 * HOUR + QUARTER,
    from + 3 * HOUR + QUARTER,
    until - 2 * HOUR + QUARTER,
    until - HOUR + QUARTER,
    until - 1,
  ]);

type Event = { at: number; day: string; document: string; amount: number; claimed: number };
type Ended = { at: number; day: string; openedAt: number };

onEveryStore("days on which clocks change", (at) => {
  describe.each(CHANGES)("%s on %s", (zone, day, hours) => {
    const TENANT = `${zone.slice(zone.indexOf("/") + 1).toLowerCase()}-${hours}`;
    const days = findDays(zone, day);
    const events: Event[] = [];
    const ended: Ended[] = [];
    let person: Person;
    let call: Caller;

    beforeAll(async () => {
      const { store, clock } = at();
      const moments = listMoments(days);
      clock.set(new Date((moments[0] ?? 0) - DAY).toISOString());
      const admin = await at().tenant(TENANT);
      await setTenant({ store }, TENANT, [`timeZone=${zone}`]);
      await configure(admin);
      call = await at().exportCaller(TENANT, ["ingest:read", "ingest:write"]);
      const put = async (path: string, body: object): Promise<void> => {
        const { status, text } = await call("PUT", path, { body });
        if (status !== 201) throw new Error(text);
      };
      const account = { name: "Customer", currency: "EUR" };
      await put(accountAt(ACCOUNT), account);
      person = await at().person(TENANT, { roles: ["Administrator"] });
      const opened: { id: string; at: number }[] = [];
      for (const [place, moment] of moments.entries()) {
        clock.set(new Date(moment).toISOString());
        const own = localDay(zone, moment);
        const [document, amount, claimed] = [`INV-${10 + place}`, 100 + place, place + 1];
        const body = {
          account_number: ACCOUNT,
          invoice_date: own,
          due_date: own,
          currency: "EUR",
          original_denomination: amount,
          denomination: amount,
        };
        await put(documentAt(document), body);
        const of = { accountNumber: ACCOUNT, documentNumber: document, reasonCode: "WRONG" };
        const { disputeId } = await dispute(person, {
          ...of,
          amount: claimed,
          currencyCode: "EUR",
        });
        opened.push({ id: disputeId, at: moment });
        events.push({ at: moment, day: own, document, amount, claimed });
        const old = opened[place - 5];
        if (old === undefined || place % 2 === 0) continue;
        const closed = await person.call("PUT", `${DISPUTES}/${old.id}`, {
          body: { status: 1, isValid: true },
        });
        if (closed.status !== 200) throw new Error(closed.text);
        ended.push({ at: moment, day: own, openedAt: old.at });
      }
      clock.set(new Date((days.at(-1)?.until ?? 0) + 2 * HOUR).toISOString());
      person = await at().person(TENANT, { roles: ["Administrator"] });
    }, 60_000);

    const ask = async (insight: Insight, args: Record<string, unknown>, isOurs = true) => {
      const known = new Set(isOurs ? extensions : []);
      const calendar = openCalendar(zone);
      const context = await createTestContext(at(), TENANT, person, {
        calendar,
        extensions: known,
      });
      return runInsight(insight, context, args);
    };

    const by = (one: { day: string }, last: string): boolean => one.day <= last;
    const sum = (of: readonly Event[], figure: "amount" | "claimed"): number =>
      of.reduce((total, one) => total + one[figure], 0);
    const openOn = (last: string): Event[] =>
      events.filter(
        (one) => by(one, last) && !ended.some((end) => by(end, last) && end.openedAt === one.at),
      );

    it("has as many hours as the clocks of the place show", () => {
      const one = days.find((own) => own.day === day);
      expect(((one?.until ?? 0) - (one?.from ?? 0)) / HOUR).toBe(hours);
    });

    verifies("WK-30", "WK-07");
    it("has balances, ageing and disputes of its own end", async () => {
      for (const { day: asOf } of days) {
        const issued = events.filter((one) => by(one, asOf));
        const open = openOn(asOf);
        const { items } = await ask(documentsSummary, { asOf, ageBuckets: [0, 1, 2] });
        const aged = Map.groupBy(issued, (one) => daysApart(one.day, asOf));
        const bucket = ["current", "1", "2"];
        const shown = items
          .filter((item) => item["count"] !== 0)
          .map((item) => [(item["key"] as { age: string }).age, item["amount"]]);
        expect([asOf, new Map(shown as [string, number][])]).toEqual([
          asOf,
          new Map([...aged].map(([age, own]) => [bucket[age], sum(own, "amount")])),
        ]);
        const overview = await ask(accountOverview, { account: ACCOUNT, asOf });
        const [{ openDocuments }] = overview.items as [{ openDocuments: { totals: object[] } }];
        expect(openDocuments.totals).toMatchObject([
          { currencyCode: "EUR", amount: sum(issued, "amount") },
        ]);
        const whole = await ask(documentsSummary, { asOf, groupBy: ["currency"] });
        expect(whole.items).toMatchObject([
          { amount: sum(issued, "amount"), disputedAmount: sum(open, "claimed") },
        ]);
        for (const isOurs of [true, false]) {
          const standing = await ask(disputesSummary, { asOf, status: "Open" }, isOurs);
          expect([standing.rowCount, standing.currencyTotals]).toMatchObject([
            open.length,
            [{ amount: sum(open, "claimed") }],
          ]);
          const triage = await ask(disputesTriage, { asOf, deadlineDays: 1, limit: 50 }, isOurs);
          const left = Object.fromEntries(
            triage.items.map((item) => [item["amount"], [item["ageDays"], item["daysLeft"]]]),
          );
          expect(left).toEqual(
            Object.fromEntries(
              open.map((one) => {
                const age = daysApart(one.day, asOf);
                return [one.claimed, [age, 1 - age]];
              }),
            ),
          );
        }
      }
    });

    verifies("WK-31");
    it("has a statement whose lines are those of the day", async () => {
      for (const { day: own } of days) {
        const statement = await ask(accountStatement, { account: ACCOUNT, from: own, to: own });
        const billed = events.filter((one) => one.day === own);
        const before = events.filter((one) => one.day < own);
        expect(
          statement.items.map((item) => [item["day"], item["number"], item["amount"]]),
        ).toEqual(billed.map((one) => [own, one.document, one.amount]));
        expect(statement["balances"]).toEqual([
          {
            currencyCode: "EUR",
            openingBalance: sum(before, "amount"),
            closingBalance: sum([...before, ...billed], "amount"),
            disputed: sum(openOn(own), "claimed"),
          },
        ]);
      }
    });

    verifies("WK-80", "WK-70");
    it("has the changes and measures of its own hours", async () => {
      for (const { day: own } of days) {
        const opened = events.filter((one) => one.day === own);
        const closed = ended.filter((one) => one.day === own);
        for (const isOurs of [true, false]) {
          const args = { since: own, until: own, kinds: ["opened", "closed"] };
          const { counts } = await ask(changesSince, args, isOurs);
          expect([own, counts]).toEqual([own, { opened: opened.length, closed: closed.length }]);
          const span = { closedFrom: own, closedTo: own, status: "Closed" };
          const summed = await ask(disputesSummary, { ...span, groupBy: ["closed:day"] }, isOurs);
          expect(summed.items).toMatchObject([
            { key: { "closed:day": own }, count: closed.length },
          ]);
          const { items } = await ask(receivablesKpis, { from: own, to: own }, isOurs);
          const valueOf = (measure: string) =>
            items.find((item) => item["measure"] === measure)?.["value"];
          const took = closed
            .map((one) => daysApart(localDay(zone, one.openedAt), own))
            .toSorted((a, b) => a - b);
          const ranked = (share: number) => took[Math.ceil(share * took.length) - 1];
          expect([valueOf("medianDaysToClose"), valueOf("p90DaysToClose")]).toEqual([
            ranked(0.5),
            ranked(0.9),
          ]);
        }
      }
    });
  });
});
