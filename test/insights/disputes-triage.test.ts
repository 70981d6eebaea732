import { beforeAll, expect, it } from "vitest";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { DAY } from "../../src/kit/clock.ts";
import { make } from "../support/configuration.ts";
import { loadDisputes, toAccount } from "../support/dispute-sql.ts";
import { importDisputes, importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { CONFIGURATION, DISPUTES, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "triage";
const NOW = "2026-03-02T09:00:00.000Z";
const CLOSED_DOCUMENTS = ["INV-3", "INV-7", "INV-11", "INV-20"];
const MISSING_DOCUMENTS = ["INV-5", "INV-6"];

type Item = Record<string, unknown> & { disputeCode: string; why: string[] };

const dayOf = (time: string): number => Math.floor(Date.parse(time) / DAY);

/** The score by the documented rules, one dispute at a time. */
const scoreOf = (one: Dispute, open: readonly Dispute[]) => {
  const peers = open.filter(({ currencyCode }) => currencyCode === one.currencyCode);
  const larger = peers.filter(({ amount }) => amount > one.amount).length;
  const twin = open.some(
    (other) =>
      other.disputeId !== one.disputeId &&
      other.accountNumber === one.accountNumber &&
      other.documentNumber === one.documentNumber &&
      other.currencyCode === one.currencyCode &&
      other.amount === one.amount,
  );
  const idle = one.assigneeName === null || one.assigneeName === "Bo Lind";
  const age = dayOf(NOW) - dayOf(one.createDate);
  const quiet = dayOf(NOW) - dayOf(one.updateDate);
  const closed = CLOSED_DOCUMENTS.includes(one.documentNumber);
  const flags = { documentClosed: closed, duplicate: twin, unassigned: idle, stale: quiet >= 10 };
  const score =
    (closed ? 30 : 0) +
    (twin ? 20 : 0) +
    (idle ? 15 : 0) +
    (quiet >= 10 ? 10 : 0) +
    Math.min(15, Math.floor(age / 6)) +
    Math.floor((10 * (peers.length - larger)) / peers.length);
  return { score, flags };
};

onEveryStore("disputes_triage", (at) => {
  let context: TestContext;
  let admin: Person;
  let open: Dispute[];

  const documents = Array.from({ length: 60 }, (_, place) => ({
    document_number: `INV-${place + 1}`,
    account_number: `ACC-${toAccount(place + 1)}`,
    invoice_date: "2025-09-01",
    due_date: "2025-10-01",
    denomination: 100,
  })).filter(({ document_number }) => !MISSING_DOCUMENTS.includes(document_number));

  beforeAll(async () => {
    at().clock.set("2026-02-10T09:00:00.000Z");
    admin = await at().tenant(TENANT);
    await make(admin, "/departments", { code: "SALES", description: "Sales" });
    for (const [firstName, lastName, email] of [
      ["Ana", "Silva", "ana@x.example"],
      ["Bo", "Lind", "bo@x.example"],
    ]) {
      const person = { firstName, lastName, email };
      await make(admin, "/assignees", { departmentCode: "SALES", person, active: true });
    }
    await make(admin, "/resolutions", { code: "CREDIT", description: "Credit", isValid: true });
    const accounts = Array.from({ length: 9 }, (_, place) => ({
      account_number: `ACC-${place + 1}`,
      name: `Account ${place + 1} Ltd`,
      currency: "USD",
    }));
    await importRecords(at(), TENANT, "accounts", ndjson(accounts), { format: "ndjson" });
    const taken = await importRecords(at(), TENANT, "documents", ndjson(documents), {
      format: "ndjson",
    });
    if (taken.rejects.length > 0) throw new Error(JSON.stringify(taken.rejects[0]));
    const closures = CLOSED_DOCUMENTS.map((document_number) => ({
      document_number,
      closure_reason: "paid",
      closure_date: "2026-02-01",
    }));
    const closed = await importRecords(at(), TENANT, "closures", ndjson(closures), {
      format: "ndjson",
    });
    if (closed.rejects.length > 0) throw new Error(JSON.stringify(closed.rejects[0]));
    await loadDisputes(at(), TENANT, admin, { count: 250, seed: 9 });
    const bo = `${CONFIGURATION}/assignees/by-email/bo@x.example`;
    const changed = await admin.call("PUT", bo, {
      body: { departmentCode: "SALES", active: false },
    });
    if (changed.status !== 200) throw new Error(changed.text);
    at().clock.set(NOW);
    const all = await admin.call("GET", `${DISPUTES}?Status=0&Sort=DisputeCode`);
    const [first, second, third] = all.body as Dispute[];
    for (const one of [first, second, third]) {
      const path = `${DISPUTES}/${one?.disputeId}`;
      await admin.call("PUT", path, { body: { poNumber: "touched" } });
      await admin.call("POST", `${path}/disputenotes`, {
        body: { content: `é${"x".repeat(200)}` },
      });
      await admin.call("POST", `${path}/attachments`, { body: { fileName: "proof.pdf" } });
    }
    admin = await at().person(TENANT, { roles: ["Administrator"] });
    context = await createTestContext(at(), TENANT, admin);
    open = (await admin.call("GET", `${DISPUTES}?Status=0`)).body as Dispute[];
  });

  const triage = (args: Record<string, unknown> = {}) => runInsight(disputesTriage, context, args);
  const idOf = (code: string | undefined): string =>
    open.find(({ disputeCode }) => disputeCode === code)?.disputeId ?? "";
  const itemsOf = async (args: Record<string, unknown>) => (await triage(args)).items as Item[];

  verifies("IN-30", "IN-31", "IN-32");
  it("scores every open dispute by the documented parts", async () => {
    const { items, flags, itemsTotal } = await triage({ limit: 100 });
    const expected = open
      .map((one) => ({ ...one, ...scoreOf(one, open) }))
      .toSorted(
        (a, b) =>
          b.score - a.score ||
          b.amount - a.amount ||
          a.createDate.localeCompare(b.createDate) ||
          (a.disputeCode < b.disputeCode ? -1 : 1),
      );
    expect((items as Item[]).map((one) => [one.disputeCode, one["score"]])).toEqual(
      expected.slice(0, 100).map(({ disputeCode, score }) => [disputeCode, score]),
    );
    const count = (flag: "documentClosed" | "duplicate" | "unassigned" | "stale") =>
      expected.filter((one) => one.flags[flag]).length;
    expect(flags).toEqual({
      documentClosed: count("documentClosed"),
      duplicate: count("duplicate"),
      unassigned: count("unassigned"),
      stale: count("stale"),
    });
    expect(itemsTotal).toBe(open.length);
    expect(count("documentClosed")).toBeGreaterThan(0);
    expect(count("duplicate")).toBeGreaterThan(0);
  });

  it("says why in words, with the last note and the number of files", async () => {
    const [closed] = await itemsOf({ documentNumber: "INV-7" });
    expect(closed?.why[0]).toBe("document closed by 2026-02-10");
    const extended = { ...context, extensions: new Set(["documents.get.closure"]) };
    const { items } = await runInsight(disputesTriage, extended, { documentNumber: "INV-7" });
    expect(items[0]).toMatchObject({ why: closed?.why.with(0, "document closed on 2026-02-01") });
    expect(closed).toMatchObject({ rank: 1, documentStatus: "closed", attachments: 0 });
    expect(Object.values(closed ?? {})).not.toContain(null);
    const touched = open.filter(({ poNumber }) => poNumber === "touched");
    expect(touched).toHaveLength(3);
    for (const { disputeCode } of touched) {
      const [item] = await itemsOf({ disputeCode });
      expect(item).toMatchObject({ attachments: 1, daysSinceUpdate: 0 });
      expect(item?.["lastNote"]).toEqual({ date: "2026-03-02", text: `é${"x".repeat(118)}…` });
      expect(item?.why.join()).not.toMatch(/no activity/);
    }
    const [missing] = await itemsOf({ documentNumber: "INV-5" });
    expect(missing?.["documentStatus"]).toBe("missing");
    const idle = await itemsOf({ assignee: "lind" });
    expect(idle.every(({ why }) => why.includes("assignee not active"))).toBe(true);
  });

  it("orders by amount or age on request, and filters by the document's status", async () => {
    const amounts = (await itemsOf({ orderBy: "amount", limit: 20 })).map(({ amount }) => amount);
    expect(amounts).toEqual(
      open
        .map(({ amount }) => amount)
        .toSorted((a, b) => b - a)
        .slice(0, 20),
    );
    const ages = (await itemsOf({ orderBy: "age", limit: 20 })).map(({ ageDays }) => ageDays);
    expect(ages).toEqual(ages.toSorted((a, b) => Number(b) - Number(a)));
    const { rowCount, flags } = await triage({ documentStatus: "closed" });
    const onClosed = open.filter(({ documentNumber }) => CLOSED_DOCUMENTS.includes(documentNumber));
    expect([rowCount, (flags as Record<string, number>)["documentClosed"]]).toEqual([
      onClosed.length,
      onClosed.length,
    ]);
  });

  it("finds a duplicate that the filters leave out", async () => {
    const twins = open.filter((one) => scoreOf(one, open).flags.duplicate);
    const one = twins.find(({ assigneeName }) => assigneeName !== null);
    const [item] = await itemsOf({ disputeCode: one?.disputeCode, assignee: one?.assigneeName });
    expect(item?.why.join()).toMatch(/possible duplicate of \S+: same document, amount/);
  });

  verifies("IN-06");
  it("gives the same triage where the platform lists documents", async () => {
    const one = await createTestContext(at(), TENANT, admin, {
      extensions: new Set(["documents.list"]),
    });
    const { items, flags } = await runInsight(disputesTriage, one, { limit: 20 });
    const other = await triage({ limit: 20 });
    expect([items, flags]).toEqual([other.items, other["flags"]]);
    expect(one.calls.filter((name) => name.startsWith("documents."))).toEqual(["documents.list"]);
  });

  verifies("IN-06", "IN-33");
  it("asks for the disputes on closed documents after five pages of a long list", async () => {
    const long = await createTestContext(at(), TENANT, admin, {
      extensions: new Set(["documents.list", "disputes.summary"]),
      intercept: ({ id }, args) => (id === "documents.list" ? { ...args, limit: 5 } : args),
    });
    const toFacts = ({ items, flags }: Awaited<ReturnType<typeof triage>>) => [
      flags,
      items.map(({ disputeCode, score, documentStatus }) => [disputeCode, score, documentStatus]),
    ];
    const found = await runInsight(disputesTriage, long, { limit: 100 });
    expect(toFacts(found)).toEqual(toFacts(await triage({ limit: 100 })));
    const calls = long.calls.filter((name) => !name.startsWith("dispute_"));
    expect(calls.filter((name) => name === "documents.list")).toHaveLength(5);
    expect(calls.filter((name) => name === "disputes.summary")).toHaveLength(2);
  });

  verifies("IN-33");
  it("makes at most 150 calls, and counts what it did not read", async () => {
    const fewer = await createTestContext(at(), TENANT, admin);
    const many = Array.from({ length: 150 }, (_, number) => ({
      accountNumber: "MANY",
      documentNumber: `M-${number}`,
      amount: 5,
      categoryCode: "PRICE",
      reasonCode: "WRONG",
      currencyCode: "USD",
    }));
    const how = { format: "ndjson" as const };
    await importDisputes(at(), TENANT, ndjson(many), how);
    const { items, notes } = await runInsight(disputesTriage, fewer, { limit: 100 });
    expect(fewer.calls.length).toBeLessThanOrEqual(150);
    expect(items.some(({ attachments }) => attachments === "unknown")).toBe(true);
    expect(notes.join(" ")).toMatch(/status of \d+ documents is unknown.*a part is unknown/);
  });

  it("answers without a missing right, and names it", async () => {
    const reader = await at().person(TENANT, { grants: ["Dispute Management : READ"] });
    const limited = await createTestContext(at(), TENANT, reader);
    const { items, notes } = await runInsight(disputesTriage, limited, { limit: 3 });
    expect(items).toHaveLength(3);
    expect(notes.join(" ")).toMatch(/Assignees cannot be read.*Dispute Configuration : READ/);
  });

  verifies("HS-08");
  it("asks for notes and files of all disputes at once, in at most five requests", async () => {
    const extensions = new Set(["disputes.activity", "documents.list", "disputes.summary"]);
    const one = await createTestContext(at(), TENANT, admin, { extensions });
    const { items, notes } = await runInsight(disputesTriage, one, { limit: 25 });
    expect(items).toHaveLength(25);
    expect(one.calls.length).toBeLessThanOrEqual(5);
    expect(one.calls).toContain("disputes.activity");
    expect(notes).toEqual([]);
    const { items: others } = await triage({ limit: 25 });
    const toFacts = (all: readonly Record<string, unknown>[]) =>
      all.map(({ why: _why, ...facts }) => facts);
    expect(toFacts(items)).toEqual(toFacts(others));
  });

  it("takes a note for activity, which another order or filter finds too", async () => {
    const extensions = new Set(["disputes.activity"]);
    const one = await createTestContext(at(), TENANT, admin, { extensions });
    const ask = (args: Record<string, unknown>) => runInsight(disputesTriage, one, args);
    const before = await ask({ flags: "stale", limit: 5, orderBy: "amount" });
    const [stale] = before.items as Item[];
    expect(stale?.why.join()).toMatch(/no activity for \d+ days/);
    await admin.call("POST", `${DISPUTES}/${idOf(stale?.disputeCode)}/disputenotes`, {
      body: { content: "Called the customer." },
    });
    const code = { disputeCode: stale?.disputeCode };
    for (const found of [await ask(code), await triage(code)]) {
      const [item] = found.items as Item[];
      expect(item).toMatchObject({
        daysSinceUpdate: 0,
        lastNote: { text: "Called the customer." },
      });
      expect(item?.why.join()).not.toMatch(/no activity/);
    }
    const after = await ask({ flags: ["stale"] });
    expect(after.itemsTotal).toBe(before.itemsTotal - 1);
    expect(after.flags).toMatchObject({ stale: after.itemsTotal });
  });

  it("counts each flag as its filter finds it, and reaches every dispute by pages", async () => {
    const extensions = new Set(["disputes.activity"]);
    const one = await createTestContext(at(), TENANT, admin, { extensions });
    const ask = (args: Record<string, unknown>) => runInsight(disputesTriage, one, args);
    const { flags, itemsTotal } = await ask({});
    for (const [flag, count] of Object.entries(flags as Record<string, number>)) {
      const found = await ask({ flags: flag });
      const sum = found.currencyTotals.reduce((all, { count: own }) => all + own, 0);
      expect([flag, found.itemsTotal, found.rowCount, sum]).toEqual([flag, count, count, count]);
    }
    const codes = new Set<unknown>();
    for (let skip = 0; skip < itemsTotal; skip += 100) {
      const { items } = await runInsight(disputesTriage, { ...one, skip }, { limit: 100 });
      expect(items[0]).toMatchObject({ rank: skip + 1 });
      for (const { disputeCode } of items) codes.add(disputeCode);
    }
    expect(codes.size).toBe(itemsTotal);
  });

  it("names amount and age as reasons only where they stand out", async () => {
    const items = await itemsOf({ limit: 100 });
    const why = items.flatMap((item) => item.why);
    const percents = why.flatMap((text) => /^largest (\d+) %/.exec(text)?.[1] ?? []).map(Number);
    const ages = why.flatMap((text) => /^(\d+) days old$/.exec(text)?.[1] ?? []).map(Number);
    expect(percents.length).toBeGreaterThan(0);
    expect(Math.max(...percents)).toBeLessThanOrEqual(25);
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(30);
  });
});
