import Big from "big.js";
import { beforeAll, expect, it } from "vitest";
import { HOUR, formatTimestamp } from "../../src/kit/clock.ts";
import { undoImport } from "../../src/platform/admin/imports.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { createDice } from "../support/dice.ts";
import { importPayments, importRecords } from "../support/importing.ts";
import { documentAt, INGEST } from "../support/ingest.ts";
import { localDay } from "../support/local-days.ts";
import { ndjson } from "../support/payment-rows.ts";
import {
  onEveryStore,
  type TestPlatform,
  useExportCaller,
  useTenant,
} from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "history";
const ZONE = "Europe/Berlin";
const SUMMARY = `${INGEST}/documents/summary`;
const STEPS = 90;
const DOCUMENTS = 14;
/** Days around which clocks are set forward and back. */
const BEGINNINGS = ["2026-03-24T21:10:00.000Z", "2026-10-20T20:40:00.000Z"];
const DAY_MS = 86_400_000;

type Balance = { at: number; balance: number };
/** A closing and the end of it, for each document beside its other balances. */
type Paper = {
  number: string;
  issuedOn: string;
  original: number | undefined;
  balances: Balance[];
  closings: { from: number; until: number }[];
  payments: { day: string; amount: number }[];
};

const isOpen = ({ closings }: Paper): boolean => closings.at(-1)?.until !== Infinity;

/** The balance of a document at a moment, replayed from its changes; undefined before it was issued. */
const standAt = ({ issuedOn, original, balances, closings, payments }: Paper, at: number) => {
  const day = localDay(ZONE, at);
  if (issuedOn > day) return undefined;
  const closed = { status: "closed", balance: 0, basis: "records" };
  const first = Math.min(...balances.map((one) => one.at), ...closings.map(({ from }) => from));
  if (closings.some(({ from, until }) => from <= at && at < until)) return closed;
  const known = balances.findLast((one) => one.at <= at);
  if (known !== undefined && first <= at) {
    return { status: "open", balance: known.balance, basis: "records" };
  }
  const paid = payments.filter((one) => one.day <= day);
  const left = paid.reduce((rest, { amount }) => rest.minus(amount), new Big(original ?? 0));
  const basis = paid.length > 0 ? "payments" : "original";
  return { status: left.eq(0) ? "closed" : "open", balance: left.toNumber(), basis };
};

type Act = (paper: Paper, at: TestPlatform) => Promise<void>;

/** Changes documents at random, by every way there is, and keeps what each change does. */
const createActs = (
  call: ReturnType<typeof useExportCaller>,
  dice: ReturnType<typeof createDice>,
): Act[] => {
  const amountOf = () => dice.pick([0, 10.1, 25.55, 60, 1_000_000.99]);
  const keep = (paper: Paper, balance: number, at: number): void => {
    if (balance === 0) {
      if (isOpen(paper)) paper.closings.push({ from: at, until: Infinity });
      return;
    }
    const last = paper.closings.at(-1);
    if (last?.until === Infinity) last.until = at;
    paper.balances.push({ at, balance });
  };
  const fieldsOf = (paper: Paper, denomination: number) => ({
    account_number: `of ${paper.number}`,
    invoice_date: paper.issuedOn,
    due_date: paper.issuedOn,
    currency: "EUR",
    original_denomination: paper.original,
    denomination,
  });
  const importOne = (at: TestPlatform, paper: Paper, denomination: number) =>
    importRecords(
      at,
      TENANT,
      "documents",
      ndjson([{ document_number: paper.number, ...fieldsOf(paper, denomination) }]),
      { format: "ndjson" },
    );
  const exists = ({ balances, closings }: Paper) => balances.length + closings.length > 0;

  const put: Act = async (paper, { clock }) => {
    const amount = exists(paper) ? amountOf() : 60;
    const body = fieldsOf(paper, amount);
    const { status } = await call("PUT", documentAt(paper.number), { body });
    expect([200, 201]).toContain(status);
    keep(paper, amount, clock());
  };
  const patch: Act = async (paper, { clock }) => {
    if (!exists(paper)) return;
    const denomination = amountOf();
    await call("PATCH", documentAt(paper.number), { body: { denomination } });
    keep(paper, denomination, clock());
  };
  const close: Act = async (paper, { clock }) => {
    if (!exists(paper) || !isOpen(paper)) return;
    const from = clock() - dice.pick([0, 0, 30, 100]) * HOUR;
    const body = { closure_reason: "paid", closure_date: formatTimestamp(from) };
    const { status } = await call("POST", `${documentAt(paper.number)}/closure`, { body });
    expect(status).toBe(200);
    paper.closings.push({ from, until: Infinity });
  };
  const importClosing: Act = async (paper, at) => {
    if (!exists(paper) || !isOpen(paper)) return;
    const from = at.clock() - dice.pick([1, 26, 90]) * HOUR;
    const row = {
      document_number: paper.number,
      closure_reason: "paid",
      closure_date: formatTimestamp(from),
    };
    const { report } = await importRecords(at, TENANT, "closures", ndjson([row]), {
      format: "ndjson",
    });
    if (dice.chance(0.4)) {
      at.clock.advance(20 * HOUR);
      await undo(at, report.importId);
    } else paper.closings.push({ from, until: Infinity });
  };
  const undo = async (at: TestPlatform, importId: string | undefined) => {
    const { store, clock } = at;
    await undoImport({ store, clock, record: async () => {} }, importId ?? "");
  };
  const importDocument: Act = async (paper, at) => {
    const isNew = !exists(paper);
    const amount = isNew ? 60 : dice.pick([10.1, 25.55, 60]);
    const before = paper.balances.at(-1)?.balance;
    const wasOpen = isOpen(paper);
    const { report } = await importOne(at, paper, amount);
    // A row that was there before changes nothing.
    if (report.written === 0) return;
    const imported = at.clock();
    if (!isNew && wasOpen && dice.chance(0.5)) {
      keep(paper, amount, imported);
      at.clock.advance(15 * HOUR);
      await undo(at, report.importId);
      keep(paper, before ?? 0, at.clock());
    } else keep(paper, amount, imported);
  };
  const pay: Act = async (paper, at) => {
    const amount = dice.pick([5.05, 10, 60]);
    const day = localDay(ZONE, at.clock() - dice.whole(0, 6) * DAY_MS);
    const id = `${paper.number}-${paper.payments.length}`;
    const row = {
      id,
      paymentId: id,
      documentNumber: paper.number,
      currencyCode: "EUR",
      paymentDate: day,
      paymentAmount: amount,
      appliedAmount: amount - 1,
      discountTaken: 1,
      applicationStatus: "matched",
    };
    const source = { tenantId: TENANT, source: "cashapp" as const };
    const { rejects } = await importPayments(at, source, ndjson([row]), { format: "ndjson" });
    expect(rejects).toEqual([]);
    paper.payments.push({ day, amount });
  };
  return [put, put, patch, patch, close, importClosing, importDocument, importDocument, pay, pay];
};

verifies("WK-30");
onEveryStore("balances of past days, replayed from random changes", (at) => {
  useTenant(at, TENANT);
  const call = useExportCaller(at, TENANT, ["ingest:read", "ingest:write"]);
  const papers: Paper[] = [];
  const days: string[] = [];
  let acted = 0;

  beforeAll(async () => {
    const { store, clock } = at();
    await setTenant({ store }, TENANT, [`timeZone=${ZONE}`]);
    const dice = createDice(30);
    const acts = createActs(call, dice);
    for (const beginning of BEGINNINGS) {
      clock.set(beginning);
      const from = papers.length;
      for (let number = 0; number < DOCUMENTS; number += 1) {
        const issued = clock() - dice.whole(-3, 8) * DAY_MS;
        papers.push({
          number: `INV-${from + number}`,
          issuedOn: localDay(ZONE, issued),
          original: 60,
          balances: [],
          closings: [],
          payments: [],
        });
      }
      for (let step = 0; step < STEPS; step += 1) {
        clock.advance(dice.whole(0, 5) * HOUR + dice.whole(0, 59) * 60_000);
        await dice.pick(acts)(dice.pick(papers.slice(from)), at());
        acted += 1;
      }
      const first = Date.parse(beginning) - 9 * DAY_MS;
      for (let place = 0; first + place * DAY_MS < clock(); place += 1) {
        days.push(localDay(ZONE, first + place * DAY_MS));
      }
    }
    clock.advance(40 * DAY_MS);
  });

  /** The last millisecond of a day, found without the platform's calendar. */
  const endOf = (day: string): number => {
    let end = Date.parse(day) + 30 * HOUR;
    while (localDay(ZONE, end - 1) !== day) end -= HOUR / 2;
    return end - 1;
  };

  it("are those of the last change by the end of the tenant's day", async () => {
    expect(acted).toBe(STEPS * BEGINNINGS.length);
    for (const [place, day] of days.entries()) {
      for (const status of place % 2 === 0 ? ["open"] : ["all"]) {
        const body = { asOf: day, status, groupBy: ["account", "status"], limit: 200 };
        const reply = await call("POST", SUMMARY, { body });
        expect(reply.status, `${reply.text} ${at().logged.at(-1)}`).toBe(200);
        const shown = reply.body.items.map(({ key, amount }: { key: object; amount: number }) => [
          key,
          amount,
        ]);
        const stood = papers
          .filter(({ balances, closings }) => balances.length + closings.length > 0)
          .flatMap((paper) => {
            const standing = standAt(paper, endOf(day));
            return standing === undefined || (status === "open" && standing.status !== "open")
              ? []
              : [{ paper, ...standing }];
          });
        const expected = stood.map((one) => [
          { account: `of ${one.paper.number}`, status: one.status },
          one.balance,
        ]);
        expect(new Set(shown), day).toEqual(new Set(expected));
        const count = (basis: string) => stood.filter((one) => one.basis === basis).length;
        expect(reply.body.notes[0]).toContain(
          `${count("records")} documents by what was recorded, ${count("payments")} by the original amount less payments, ${count("original")} by the original amount alone`,
        );
      }
    }
  });

  it("are with each document as far as the last change, and in its history", async () => {
    const { read } = at().store;
    const histories = Map.groupBy(
      await read
        .selectFrom("document_balances")
        .selectAll()
        .where("tenant_id", "=", TENANT)
        .orderBy("version")
        .execute(),
      (row) => row.document_number,
    );
    const documents = await read
      .selectFrom("documents")
      .selectAll()
      .where("tenant_id", "=", TENANT)
      .execute();
    let known = 0;
    for (const row of documents) {
      const [last, former] = (histories.get(row.document_number) ?? []).toReversed();
      expect(row.balance_recorded_at).toBe(last?.recorded_at);
      if (former !== undefined) known += 1;
      expect(row).toMatchObject({
        former_at: former?.recorded_at ?? null,
        former_status: former?.status ?? null,
        former_balance: former?.balance ?? null,
        former_currency: former?.currency ?? null,
      });
    }
    expect(known).toBeGreaterThan(DOCUMENTS / 2);
  });

  it("of documents of an earlier version are the present ones since their last change", async () => {
    const { store, clock } = at();
    const number = (name: string) => `EARLIER-${name}`;
    const names = ["idle", "changed", "touched", "closed", "undone"];
    const start = clock();
    const dayAt = (days: number): string => localDay(ZONE, start + days * DAY_MS);
    const patch = async (name: string, body: object) => {
      const { status } = await call("PATCH", documentAt(number(name)), { body });
      expect(status).toBe(200);
    };
    for (const name of names) {
      const fields = {
        account_number: name,
        invoice_date: dayAt(-5),
        due_date: dayAt(5),
        currency: "EUR",
        original_denomination: 100,
        denomination: 40,
      };
      const { status } = await call("PUT", documentAt(number(name)), { body: fields });
      expect(status).toBe(201);
    }
    // After the upgrade of a store, no balance has been recorded.
    await store.transaction(async (tx) => {
      const own = "EARLIER-%";
      await tx.deleteFrom("document_balances").where("document_number", "like", own).execute();
      await tx
        .updateTable("documents")
        .set({ balance_known_from: null, balance_recorded_at: null })
        .where("document_number", "like", own)
        .execute();
    }, TENANT);
    const balancesOn = async (days: number): Promise<Record<string, number>> => {
      const body = { asOf: dayAt(days), groupBy: ["account"], status: "all", limit: 200 };
      const reply = await call("POST", SUMMARY, { body: { ...body, accountNumber: names } });
      expect(reply.status, reply.text).toBe(200);
      return Object.fromEntries(
        reply.body.items.map(({ key, amount }: { key: { account: string }; amount: number }) => [
          key.account,
          amount,
        ]),
      );
    };
    const all = (balance: number, more: object = {}) => ({
      idle: balance,
      changed: balance,
      touched: balance,
      closed: balance,
      undone: balance,
      ...more,
    });
    clock.set(new Date(start + 3 * DAY_MS).toISOString());
    expect([await balancesOn(-2), await balancesOn(1)]).toEqual([all(100), all(40)]);
    await patch("changed", { denomination: 30 });
    await patch("touched", { po_number: "PO-7" });
    const closure = { closure_reason: "paid", closure_date: formatTimestamp(clock()) };
    await call("POST", `${documentAt(number("closed"))}/closure`, { body: closure });
    const row = { document_number: number("undone"), ...closure };
    const { report } = await importRecords(at(), TENANT, "closures", ndjson([row]), {
      format: "ndjson",
    });
    clock.advance(DAY_MS);
    await undoImport({ store, clock, record: async () => {} }, report.importId ?? "");
    clock.advance(2 * DAY_MS);
    expect([await balancesOn(-2), await balancesOn(1)]).toEqual([all(100), all(40)]);
    const now = all(40, { changed: 30, closed: 0 });
    expect(await balancesOn(4)).toEqual(now);
    await patch("undone", { denomination: 20 });
    await patch("touched", { denomination: 10 });
    clock.advance(2 * DAY_MS);
    expect([await balancesOn(1), await balancesOn(4)]).toEqual([all(40), now]);
    expect(await balancesOn(7)).toEqual({ ...now, undone: 20, touched: 10 });
  });
});
