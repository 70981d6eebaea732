import { beforeAll, expect, it } from "vitest";
import { contract, extensions } from "../../src/contract/index.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import type { InsightResult } from "../../src/insights/insight.ts";
import { receivablesKpis } from "../../src/insights/receivables-kpis.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { dispute } from "../support/configuration.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { importPayments } from "../support/importing.ts";
import { accountAt, documentAt, INGEST } from "../support/ingest.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { createKpiModel, type Raw, type Span } from "../support/kpi-model.ts";
import { localDay } from "../support/local-days.ts";
import { ndjson } from "../support/payment-rows.ts";
import {
  configure,
  DISPUTES,
  onEveryStore,
  useExportCaller,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "kpis";
const ZONE = "Europe/Berlin";
const DAY_MS = 86_400_000;
const STEPS = 170;
const PARENTS: readonly (readonly [account: string, parent?: string, group?: string])[] = [
  ["P-1", undefined, "north"],
  ["C-1", "P-1", "north"],
  ["C-2", "P-1", "south"],
  ["D-1"],
];
const ACCOUNTS = PARENTS.map(([number]) => number);
const FAMILY = new Set(["P-1", "C-1", "C-2"]);
const CURRENCIES = ["EUR", "USD"];
const MONTHS: readonly Span[] = [
  { from: "2026-02-01", to: "2026-02-28" },
  { from: "2026-03-01", to: "2026-03-31" },
  { from: "2026-04-01", to: "2026-04-30" },
];
const WHOLE: Span = { from: "2026-02-01", to: "2026-04-30" };
/** The first half hour of a month in Berlin, which in UTC is the end of the month before. */
const MIDNIGHTS = ["2026-02-28T23:30:00.000Z", "2026-03-31T22:30:00.000Z"].map(Date.parse);
const START = "2026-01-02T09:00:00.000Z";
const END = "2026-05-10T09:00:00.000Z";

type Item = {
  key: Record<string, string | null>;
  currencyCode: string;
  measure: string;
  value: number | null;
  numerator: number | null;
  denominator: number | null;
  unit: string;
  rows: number;
  formula: string;
  reason?: string;
};

const itemsOf = ({ items }: InsightResult): Item[] => items as Item[];

/** The values of items by group, currency and measure. */
const toValues = (items: readonly Item[]) =>
  new Map(
    items.map(({ key, currencyCode, measure, value }) => [
      JSON.stringify([key, currencyCode, measure]),
      value,
    ]),
  );

verifies("WK-70");
onEveryStore("receivables_kpis", (at) => {
  const admin = useTenant(at, TENANT);
  const call = useExportCaller(at, TENANT, ["ingest:read", "ingest:write"]);
  const reopened: Raw["reopened"] = [];
  const payments: Raw["payments"] = [];
  const known: string[] = [];
  let raw: Raw;

  const contextOf = async (
    ids: readonly string[],
    options: Parameters<typeof createTestContext>[3] = {},
  ) => {
    const person = await at().person(TENANT, { roles: ["Administrator"] });
    return createTestContext(at(), TENANT, person, {
      calendar: openCalendar(ZONE),
      extensions: new Set(ids),
      ...options,
    });
  };

  const bill = async (dice: Dice, number: string): Promise<void> => {
    const { clock } = at();
    const isCredit = dice.chance(0.15);
    const amount = dice.whole(100, 30_000) / 100;
    const issued = clock() - dice.whole(0, 3) * DAY_MS;
    const body = {
      account_number: dice.pick(ACCOUNTS),
      document_type: isCredit ? "credit_note" : "invoice",
      ...(isCredit ? { applies_to_invoice: "INV-0" } : {}),
      invoice_date: localDay(ZONE, issued),
      due_date: localDay(ZONE, issued + dice.whole(0, 40) * DAY_MS),
      currency: dice.pick(["EUR", "EUR", "USD"]),
      original_denomination: amount,
      denomination: amount,
    };
    await call("POST", documentAt(number), { body });
    known.push(number);
  };

  const read = async (number: string) => (await call("GET", documentAt(number))).body;

  const pay = async (dice: Dice, number: string): Promise<void> => {
    const { clock } = at();
    const { account_number: accountNumber, currency, denomination } = await read(number);
    const paymentDate = localDay(ZONE, clock() - dice.whole(0, 2) * DAY_MS);
    const amount = dice.whole(100, 15_000) / 100;
    const id = `P-${clock()}`;
    const row = {
      id,
      paymentId: id,
      documentNumber: number,
      accountNumber,
      currencyCode: currency,
    };
    const paid = { paymentDate, paymentAmount: amount, appliedAmount: amount };
    const source = { tenantId: TENANT, source: "cashapp" as const };
    await importPayments(at(), source, ndjson([{ ...row, ...paid }]), { format: "ndjson" });
    payments.push({ document: number, currency, day: paymentDate, amount });
    if (dice.chance(0.7)) {
      const left = Math.max(0, Math.round((denomination - amount) * 100) / 100);
      await call("PATCH", documentAt(number), { body: { denomination: left } });
    }
  };

  const open = async (dice: Dice, number: string): Promise<string> => {
    const { account_number: accountNumber, currency } = await read(number);
    const amount = dice.whole(100, 6000) / 100;
    const body = { documentNumber: number, accountNumber, reasonCode: "WRONG" };
    return (await dispute(admin, { ...body, amount, currencyCode: currency })).disputeId;
  };

  const end = async (dice: Dice, disputeId: string): Promise<void> => {
    const status = dice.pick([1, 1, 1, 2]);
    const isValid = dice.chance(0.4);
    const body = status === 2 ? { status } : { status, isValid };
    await admin.call("PUT", `${DISPUTES}/${disputeId}`, { body });
  };

  const listDisputes = async () =>
    (await admin.call("GET", `${DISPUTES}?Sort=CreateDate`)).body as Record<string, never>[];

  const changeDispute = async (dice: Dice): Promise<void> => {
    const all = await listDisputes();
    if (all.length === 0) return;
    const { disputeId, status, closedDate } = dice.pick(all);
    if (status === 0) return end(dice, disputeId);
    if (!dice.chance(0.4)) return undefined;
    const { clock } = at();
    const done = await admin.call("PUT", `${DISPUTES}/${disputeId}`, { body: { status: 0 } });
    if (done.status !== 200) return undefined;
    const ended = status === 1 ? "Closed" : "Canceled";
    reopened.push({ id: disputeId, at: clock(), status: ended, closed: Date.parse(closedDate) });
    return undefined;
  };

  const act = async (dice: Dice): Promise<void> => {
    const kind = dice.pick(["bill", "bill", "pay", "pay", "close", "open", "open", "end", "end"]);
    const number = known.length === 0 ? undefined : dice.pick(known);
    if (number === undefined || kind === "bill") return bill(dice, `INV-${known.length}`);
    if (kind === "pay") return pay(dice, number);
    if (kind === "open") return void (await open(dice, number));
    if (kind === "end") return changeDispute(dice);
    if (dice.chance(0.5)) {
      const closure_reason = dice.pick(["paid", "write_off"]);
      await call("POST", `${documentAt(number)}/closure`, { body: { closure_reason } });
    }
    return undefined;
  };

  const readDocuments = async (): Promise<Raw["documents"]> => {
    const { body } = await call("GET", `${INGEST}/documents?history=true&limit=1000`);
    return body.data.map((one: Record<string, never>) => ({
      number: one["documentNumber"],
      account: one["account_number"],
      currency: one["currency"],
      isCredit: one["document_type"] === "credit_note",
      invoiced: String(one["invoice_date"]).slice(0, 10),
      due: String(one["due_date"]).slice(0, 10),
      original: one["original_denomination"],
      balances: (one["history"]["balances"] as Record<string, string | number>[]).map(
        ({ recordedAt, balance, status }) => ({
          at: Date.parse(String(recordedAt)),
          balance: status === "closed" ? 0 : Number(balance),
        }),
      ),
    }));
  };

  const readRaw = async (): Promise<Raw> => ({
    documents: await readDocuments(),
    disputes: (await listDisputes()).map((one) => ({
      id: one["disputeId"],
      account: one["accountNumber"],
      document: one["documentNumber"],
      currency: one["currencyCode"],
      amount: one["amount"],
      created: Date.parse(one["createDate"]),
      closed: one["closedDate"] === null ? null : Date.parse(one["closedDate"]),
      status: (["Open", "Closed", "Canceled"] as const)[one["status"]] ?? "Open",
      isValid: one["isValid"],
    })),
    reopened,
    payments,
  });

  beforeAll(async () => {
    const { store, clock } = at();
    await setTenant({ store }, TENANT, [`timeZone=${ZONE}`]);
    clock.set(START);
    await configure(admin);
    for (const [number, parent, group] of PARENTS) {
      const above = parent === undefined ? {} : { parent_account_number: parent };
      const kind = group === undefined ? {} : { account_group: group };
      const body = { name: `Customer ${number}`, currency: "EUR", ...above, ...kind };
      await call("PUT", accountAt(number), { body });
    }
    const dice = createDice(70);
    const midnights = [...MIDNIGHTS];
    for (let step = 0; step < STEPS; step += 1) {
      const next = clock() + dice.whole(1, 35) * HOUR;
      const [midnight] = midnights;
      if (midnight !== undefined && next >= midnight) {
        midnights.shift();
        clock.set(new Date(midnight).toISOString());
        await bill(dice, `INV-${known.length}`);
        await end(dice, await open(dice, known.at(-1) ?? ""));
      }
      if (next > clock()) clock.set(new Date(next).toISOString());
      await act(dice);
    }
    clock.set(END);
    raw = await readRaw();
  }, 60_000);

  /** Compares each measure of the items with the formula over raw records. */
  const check = (
    items: readonly Item[],
    spanOf: (key: Item["key"]) => Span,
    accountsOf: (key: Item["key"]) => ReadonlySet<string>,
  ): void => {
    const model = createKpiModel(raw, ZONE);
    const spans = new Map(
      items.map(({ key, currencyCode }) => [
        JSON.stringify([key, currencyCode]),
        { key, currencyCode },
      ]),
    );
    const toGroup = ({ key, currencyCode }: Pick<Item, "key" | "currencyCode">) =>
      [spanOf(key), { currency: currencyCode, accounts: accountsOf(key) }] as const;
    const all = [...spans.values()].map(toGroup);
    for (const one of spans.values()) {
      const [span, group] = toGroup(one);
      const own = items.filter(
        ({ key, currencyCode }) =>
          JSON.stringify([key, currencyCode]) === JSON.stringify([one.key, one.currencyCode]),
      );
      expect([one, Object.fromEntries(own.map(({ measure, value }) => [measure, value]))]).toEqual([
        one,
        model.measure(span, group, all),
      ]);
    }
  };

  const monthOf = (key: Item["key"]): Span =>
    MONTHS.find(({ from }) => from.startsWith(String(key["month"]))) ?? WHOLE;

  const everyAccount = () => new Set(ACCOUNTS);

  it("measures each month as the formulas over raw records do", async () => {
    const args = { groupBy: ["month"], limit: 200 };
    const result = await runInsight(receivablesKpis, await contextOf(extensions), args);
    expect(result.filter).toMatchObject({ from: WHOLE.from, to: WHOLE.to, timeZone: ZONE });
    const items = itemsOf(result);
    expect(items).toHaveLength(MONTHS.length * CURRENCIES.length * 12);
    check(items, monthOf, everyAccount);
    expect(items.filter(({ value }) => value !== null).length).toBeGreaterThan(50);
    for (const { value, reason, unit } of items) {
      expect(reason === undefined).toBe(value !== null);
      if (unit === "share" && value !== null) expect(value >= 0 && value <= 1).toBe(true);
    }
  });
});
