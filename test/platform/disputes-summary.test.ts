import Big from "big.js";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { DAY } from "../../src/kit/clock.ts";
import { insertDisputes } from "../../src/platform/store/queries/disputes.ts";
import type { DisputeRow } from "../../src/platform/store/tables/schema.ts";
import { make } from "../support/configuration.ts";
import { createDice } from "../support/dice.ts";
import { spanOf } from "../support/payment-summary-model.ts";
import { DISPUTES, onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "disputed";
const COUNT = 150;
const STATUSES = ["Open", "Closed", "Canceled"] as const;

type Reason = { reasonId: string; code: string };

const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);
const numberOf = (moment: number): number => Math.floor(moment / DAY);
const endOf = (day: string): number => Date.parse(`${day}T23:59:59.999Z`);

/** Times at the edges of days, and disputes that were closed, canceled or reopened. */
const createRows = (now: number, reasons: readonly string[], assigneeId: string): DisputeRow[] => {
  const dice = createDice(3);
  return Array.from({ length: COUNT }, (_, number) => {
    const edge = dice.pick([0, 1, DAY - 1, DAY / 2]);
    const created = (numberOf(now) - dice.whole(1, 130)) * DAY + edge;
    const status = dice.pick([0, 0, 1, 1, 2] as const);
    const closed = Math.min(now, created + dice.whole(0, 60) * DAY + dice.pick([0, 1, -1]));
    const amount = dice.pick([0.1, 0.2, 1234.56, 999_999_999.99, 12_345_678_901.25, 7]);
    const closedAt = status === 0 ? null : Math.max(created, closed);
    return {
      tenant_id: TENANT,
      id: `dispute-${number}`,
      code: `D-${number}`,
      document_number: `INV-${number % 40}`,
      account_number: dice.pick(["Acc-1", "ACC-2", "ÄCC-3"]),
      account_name: "Imported Näme",
      account_name_folded: "imported näme",
      amount: new Big(amount).toFixed(),
      amount_order: amount,
      currency_code: dice.pick(["EUR", "USD"]),
      reason_id: dice.pick(reasons),
      external_reason_id: null,
      assignee_id: dice.chance(0.5) ? assigneeId : null,
      po_number: null,
      status,
      is_valid: status === 1 && dice.chance(0.5) ? 1 : 0,
      resolution_id: null,
      closed_at: closedAt,
      origin: "api",
      source_key: null,
      source_row: null,
      created_by: "test",
      created_at: created,
      updated_by: "test",
      updated_at: closedAt ?? created,
      version: 1,
    };
  });
};

type Asked = { asOf?: string; groupBy: string[]; status?: string[]; olderThanDays?: number };

onEveryStore("disputes.summary against a model", (at) => {
  const admin = useTenant(at, TENANT);
  let rows: DisputeRow[];
  const names = new Map<string, string>();

  const ask = async (body: object) => {
    const reply = await admin.call("POST", `${DISPUTES}/summary`, { body });
    expect(reply.status, `${reply.text} ${at().logged.at(-1)}`).toBe(200);
    return reply.body;
  };

  beforeAll(async () => {
    await make(admin, "/categories", { code: "CAT", description: "Category" });
    const reasons: Reason[] = [];
    for (const code of ["PRICE", "SHORT"]) {
      const body = { code, description: `${code} Grund`, categoryCode: "CAT" };
      reasons.push(await make(admin, "/reasons", body));
    }
    await make(admin, "/departments", { code: "DEP", description: "Department" });
    const person = { firstName: "Ann", lastName: "Smith", email: "ann@example.com" };
    const assignee = await make(admin, "/assignees", { person, departmentCode: "DEP" });
    for (const { reasonId, code } of reasons) names.set(reasonId, `${code} Grund`);
    const ids = reasons.map(({ reasonId }) => reasonId);
    rows = createRows(at().clock(), ids, assignee.assigneeId);
    await at().store.transaction((tx) => insertDisputes(tx, rows), TENANT);
  });

  const stand = (row: DisputeRow, end: number) => {
    const isClosed = row.closed_at !== null && row.closed_at <= end;
    const status = STATUSES[isClosed ? row.status : 0] ?? "";
    return { row, status, closedAt: isClosed ? row.closed_at : null };
  };

  const bucketOf = (days: number): string => {
    if (days <= 30) return "0-30";
    if (days <= 60) return "31-60";
    return days <= 90 ? "61-90" : "91+";
  };

  const keyOf = (
    name: string,
    { row, status, closedAt }: ReturnType<typeof stand>,
    end: number,
  ) => {
    const [date = "", unit] = name.split(":");
    const moment = date === "created" ? row.created_at : closedAt;
    if (unit !== undefined) return moment === null ? null : spanOf(dayOf(moment), unit);
    const keys: Record<string, unknown> = {
      status,
      account: row.account_number,
      document: row.document_number,
      reason: names.get(row.reason_id),
      category: "Category",
      department: row.assignee_id === null ? null : "Department",
      assignee: row.assignee_id === null ? null : "Ann Smith",
      resolution: null,
      valid: status !== "Open" && row.is_valid === 1,
      age: bucketOf(numberOf(end) - numberOf(row.created_at)),
    };
    return keys[name];
  };

  const tenths = (total: number, count: number) =>
    count === 0 ? null : Number(new Big(total).div(count).toFixed(1));

  const model = ({ asOf, groupBy, status, olderThanDays = -1 }: Asked) => {
    const end = asOf === undefined ? at().clock() : endOf(asOf);
    const standing = rows
      .filter((row) => row.created_at <= end)
      .map((row) => stand(row, end))
      .filter((one) => status?.includes(one.status) ?? true)
      .filter(({ row }) => numberOf(end) - numberOf(row.created_at) > olderThanDays);
    const groups = Map.groupBy(standing, (one) =>
      JSON.stringify([groupBy.map((name) => keyOf(name, one, end)), one.row.currency_code]),
    );
    return [...groups].map(([text, own]) => {
      const [values, currencyCode] = JSON.parse(text);
      const open = own.filter((one) => one.status === "Open");
      const closed = own.filter((one) => one.status === "Closed");
      const ages = open.map(({ row }) => numberOf(end) - numberOf(row.created_at));
      const times = closed.map((one) => numberOf(one.closedAt ?? 0) - numberOf(one.row.created_at));
      const [oldest] = own.toSorted(
        (a, b) => a.row.created_at - b.row.created_at || (a.row.code < b.row.code ? -1 : 1),
      );
      const add = (list: number[]) => list.reduce((sum, days) => sum + days, 0);
      return {
        key: Object.fromEntries(groupBy.map((name, place) => [name, values[place]])),
        ...(groupBy.includes("account") ? { accountName: "Imported Näme" } : {}),
        currencyCode,
        count: own.length,
        amount: own.reduce((sum, { row }) => sum.plus(row.amount), new Big(0)).toNumber(),
        oldest: {
          disputeCode: oldest?.row.code,
          createDate: new Date(oldest?.row.created_at ?? 0).toISOString(),
        },
        avgAgeDays: tenths(add(ages), ages.length),
        avgDaysToClose: tenths(add(times), times.length),
      };
    });
  };

  /** The groups over all currencies; amounts stay apart. */
  const modelWhole = ({ groupBy, ...rest }: Asked) => {
    const first = rows[0]?.currency_code ?? "";
    const original = rows;
    rows = rows.map((row) => ({ ...row, currency_code: first }));
    const whole = model({ groupBy, ...rest });
    rows = original;
    return whole.map(({ key, count, avgAgeDays, avgDaysToClose }) => ({
      key,
      count,
      avgAgeDays,
      avgDaysToClose,
    }));
  };

  const GROUPINGS = ["status", "account", "reason", "category", "department", "assignee"];
  const MORE = ["valid", "age", "created:week", "created:month", "closed:quarter", "closed:day"];

  verifies("IN-06", "IN-20", "IN-21", "IN-25", "IN-26", "IN-73", "C-86", "WK-47");
  it("gives the groups, amounts and averages of the disputes as they stood", async () => {
    const today = numberOf(at().clock());
    const property = fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...GROUPINGS, ...MORE), { maxLength: 3 }),
      fc.option(fc.integer({ min: 0, max: 140 }), { nil: undefined }),
      fc.option(fc.uniqueArray(fc.constantFrom(...STATUSES), { minLength: 1 }), { nil: undefined }),
      fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
      async (groupBy, daysAgo, status, olderThanDays) => {
        const asOf = daysAgo === undefined ? {} : { asOf: dayOf((today - daysAgo) * DAY) };
        const asked = {
          groupBy,
          ...asOf,
          ...(status === undefined ? {} : { status }),
          ...(olderThanDays === undefined ? {} : { olderThanDays }),
        };
        const body = await ask({ ...asked, limit: 200 });
        expect(body.asOf).toBe(asOf.asOf ?? new Date(at().clock()).toISOString());
        const expected = model(asked);
        const found = body.items.filter(({ count }: { count: number }) => count > 0);
        if (expected.length <= 200) expect(new Set(found)).toEqual(new Set(expected));
        const whole = model({ ...asked, groupBy: [] });
        const isDivided = groupBy.length > 0 && whole.length > 1;
        const shownGroups = body.groups?.filter(({ count }: { count: number }) => count > 0);
        if (expected.length <= 200)
          expect(shownGroups && new Set(shownGroups)).toEqual(
            isDivided ? new Set(modelWhole(asked)) : undefined,
          );
        expect(new Set(body.currencyTotals)).toEqual(
          new Set(
            whole.map(({ currencyCode, count, amount }) => ({ currencyCode, count, amount })),
          ),
        );
        expect(body.rowCount).toBe(whole.reduce((sum, { count }) => sum + count, 0));
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  describe("filters and orders", () => {
    verifies("IN-20");
    it.each([
      [{ accountNumber: "acc-1" }, (row: DisputeRow) => row.account_number === "Acc-1"],
      [{ accountNumber: ["ACC-1", "äcc-3"] }, (row: DisputeRow) => row.account_number !== "ACC-2"],
      [{ documentNumber: "inv-7" }, (row: DisputeRow) => row.document_number === "INV-7"],
      [{ disputeCode: ["d-3", "D-4"] }, (row: DisputeRow) => ["D-3", "D-4"].includes(row.code)],
      [{ currencyCode: "usd" }, (row: DisputeRow) => row.currency_code === "USD"],
      [{ accountName: "NÄM" }, () => true],
      [{ reason: "price" }, (row: DisputeRow) => names.get(row.reason_id) === "PRICE Grund"],
      [{ reason: "ORT gr" }, (row: DisputeRow) => names.get(row.reason_id) === "SHORT Grund"],
      [{ category: "cat" }, () => true],
      [{ department: "artm" }, (row: DisputeRow) => row.assignee_id !== null],
      [{ assignee: "ann@example.com" }, (row: DisputeRow) => row.assignee_id !== null],
      [{ assignee: "SMITH" }, (row: DisputeRow) => row.assignee_id !== null],
      [{ resolution: "none" }, () => false],
      [{ unassigned: true }, (row: DisputeRow) => row.assignee_id === null],
      [{ amountMin: 0.2, amountMax: 7 }, (row: DisputeRow) => ["0.2", "7"].includes(row.amount)],
      [{ documentStatus: "missing" }, () => true],
      [{ documentStatus: "Open" }, () => false],
      [{ status: 2 }, (row: DisputeRow) => row.status === 2],
    ])("keeps the disputes of %j", async (filter, keeps) => {
      const body = await ask(filter);
      expect(body.rowCount).toBe(rows.filter(keeps).length);
    });

    verifies("IN-26");
    it("gives every age bucket of each currency, in order", async () => {
      const body = await ask({ groupBy: ["age"], ageBuckets: [0, 5000, 6000] });
      const keys = body.items.map((item: { key: { age: string } }) => item.key.age);
      expect(keys).toEqual(["0", "1-5000", "5001-6000", "6001+"].flatMap((key) => [key, key]));
      expect(body.items.at(-1)).toMatchObject({ count: 0, amount: 0, oldest: null });
      const few = await ask({ groupBy: ["age"], orderBy: "count", limit: 1 });
      expect(few.items).toHaveLength(1);
      expect(few.itemsTotal).toBe(8);
    });

    verifies("IN-04");
    it("refuses unknown names with the known ones and the most similar", async () => {
      const refuse = async (body: object) => {
        const reply = await admin.call("POST", `${DISPUTES}/summary`, { body });
        expect(reply.status).toBe(400);
        return reply.body.errors[0].message;
      };
      expect(await refuse({ acountNumber: "A" })).toMatch(/similar: accountNumber; known: status,/);
      expect(await refuse({ groupBy: ["raeson"] })).toMatch(/similar: reason; known: status,/);
      expect(await refuse({ orderBy: "amuont" })).toMatch(/similar: amount; known: count,/);
      expect(await refuse({ createdFrom: "May" })).toContain('such as "2026-01-31"');
    });
  });
});
