import { DISPUTE_STATUSES } from "../../src/contract/insights/dispute-filters.ts";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import type { ListedDocument } from "../../src/contract/operations/documents.ts";
import { DAY, HOUR } from "../../src/kit/clock.ts";
import { dispute } from "./configuration.ts";
import { createDice, type Dice } from "./dice.ts";
import { importPayments } from "./importing.ts";
import { accountAt, documentAt, INGEST } from "./ingest.ts";
import type { Raw } from "./kpi-model.ts";
import { localDay } from "./local-days.ts";
import { ndjson } from "./payment-rows.ts";
import { type Caller, configure, DISPUTES, type Person, type TestPlatform } from "./platform.ts";

export const ZONE = "Europe/Berlin";
const START = "2025-11-01T09:00:00.000Z";
const END = "2026-05-10T09:00:00.000Z";
/** The first half hour of a month in Berlin, which in UTC is the end of the month before. */
const MIDNIGHTS = ["2026-02-28T23:30:00.000Z", "2026-03-31T22:30:00.000Z"].map(Date.parse);

/** The accounts with the account above and the group. */
export const PARENTS: readonly (readonly [
  account: string,
  parent?: string | undefined,
  group?: string,
])[] = [["P-1", undefined, "north"], ["C-1", "P-1", "north"], ["C-2", "P-1", "south"], ["D-1"]];
export const ACCOUNTS = PARENTS.map(([number]) => number);

type Needs = { at: TestPlatform; tenantId: string; admin: Person; call: Caller };

/**
 * Lets documents, payments and disputes of a tenant happen at random for half a year, in which clocks change, and reads
 * them as raw records. The clock then shows the end.
 */
export const createKpiTenant = ({ at, tenantId, admin, call }: Needs) => {
  const reopened: Raw["reopened"] = [];
  const payments: Raw["payments"] = [];
  const known: string[] = [];

  const bill = async (dice: Dice, number: string): Promise<void> => {
    const { clock } = at;
    const isCredit = dice.chance(0.15);
    const amount = dice.whole(100, 30_000) / 100;
    const issued = clock() - dice.whole(0, 3) * DAY;
    const body = {
      account_number: dice.pick(ACCOUNTS),
      document_type: isCredit ? "credit_note" : "invoice",
      ...(isCredit ? { applies_to_invoice: "INV-0" } : {}),
      invoice_date: localDay(ZONE, issued),
      due_date: localDay(ZONE, issued + dice.whole(0, 40) * DAY),
      currency: dice.pick(["EUR", "EUR", "USD"]),
      original_denomination: amount,
      denomination: amount,
    };
    await call("POST", documentAt(number), { body });
    known.push(number);
  };

  const read = async (number: string) => (await call("GET", documentAt(number))).body;

  const pay = async (dice: Dice, number: string): Promise<void> => {
    const { clock } = at;
    const { account_number: accountNumber, currency, denomination } = await read(number);
    const paymentDate = localDay(ZONE, clock() - dice.whole(0, 2) * DAY);
    const amount = dice.whole(100, 25_000) / 100;
    const id = `P-${clock()}`;
    const row = {
      id,
      paymentId: id,
      documentNumber: number,
      accountNumber,
      currencyCode: currency,
    };
    const paid = { paymentDate, paymentAmount: amount, appliedAmount: amount };
    const source = { tenantId: tenantId, source: "cashapp" as const };
    await importPayments(at, source, ndjson([{ ...row, ...paid }]), { format: "ndjson" });
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
    (await admin.call("GET", `${DISPUTES}?Sort=CreateDate`)).body as Dispute[];

  const changeDispute = async (dice: Dice): Promise<void> => {
    const all = await listDisputes();
    if (all.length === 0) return;
    const { disputeId, status, closedDate } = dice.pick(all);
    if (status === 0 || closedDate === null) return end(dice, disputeId);
    if (!dice.chance(0.4)) return undefined;
    const { clock } = at;
    const done = await admin.call("PUT", `${DISPUTES}/${disputeId}`, { body: { status: 0 } });
    if (done.status !== 200) return undefined;
    const ended = status === 1 ? "Closed" : "Canceled";
    reopened.push({ id: disputeId, at: clock(), status: ended, closed: Date.parse(closedDate) });
    return undefined;
  };

  const act = async (dice: Dice): Promise<void> => {
    const kind = dice.pick([
      "bill",
      "bill",
      "pay",
      "pay",
      "pay",
      "close",
      "open",
      "open",
      "end",
      "end",
    ]);
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
    return body.data.map((one: ListedDocument) => ({
      number: one.documentNumber,
      account: one.account_number,
      currency: one.currency,
      isCredit: one.document_type === "credit_note",
      invoiced: one.invoice_date.slice(0, 10),
      due: one.due_date.slice(0, 10),
      original: one.original_denomination,
      balances: one.history?.balances.map(({ recordedAt, balance, status }) => ({
        at: Date.parse(recordedAt),
        balance: status === "closed" ? 0 : Number(balance),
      })),
    }));
  };

  const readRaw = async (): Promise<Raw> => ({
    documents: await readDocuments(),
    disputes: (await listDisputes()).map((one) => ({
      id: one.disputeId,
      account: one.accountNumber,
      document: one.documentNumber,
      currency: one.currencyCode,
      amount: one.amount,
      created: Date.parse(one.createDate),
      closed: one.closedDate === null ? null : Date.parse(one.closedDate),
      status: DISPUTE_STATUSES[one.status] ?? "Open",
      isValid: one.isValid,
    })),
    reopened,
    payments,
  });

  return async (): Promise<Raw> => {
    at.clock.set(START);
    await configure(admin);
    for (const [number, parent, group] of PARENTS) {
      const above =
        parent === undefined ? {} : { parent_account_number: parent, is_parent_account: false };
      const kind = group === undefined ? {} : { account_group: group };
      const body = { name: `Customer ${number}`, currency: "EUR", ...above, ...kind };
      const made = await call("PUT", accountAt(number), { body });
      if (made.status !== 201) throw new Error(made.text);
    }
    const { clock } = at;
    const dice = createDice(70);
    const midnights = [...MIDNIGHTS];
    for (;;) {
      const next = clock() + dice.whole(1, 50) * HOUR;
      if (next > Date.parse(END)) break;
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
    return readRaw();
  };
};
