import { beforeAll, expect, it } from "vitest";
import { contract, extensions } from "../../src/contract/index.ts";
import { TRIAGE_FLAGS, TRIAGE_ORDERS } from "../../src/contract/insights/dispute-triage.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import type { InsightResult } from "../../src/insights/insight.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { setReasonDays } from "../../src/platform/admin/reasons.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { make } from "../support/configuration.ts";
import { createDice, type Dice } from "../support/dice.ts";
import { loadDisputes, toAccount } from "../support/dispute-sql.ts";
import { importRecords } from "../support/importing.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { CONFIGURATION, DISPUTES, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "ranked";
const ZONE = "America/Santiago";
const NOW = "2026-03-02T09:00:00.000Z";
const RUNS = 25;

const RANKED = contract.disputes.triage.id;
const OURS = new Set(extensions);
const PAGED = new Set(extensions.filter((name) => name !== RANKED));

/** Draws conditions and an order; most of them together still find some of the disputes. */
const drawArguments = (dice: Dice): Record<string, unknown> => {
  const maybe = (share: number, args: () => object): object => (dice.chance(share) ? args() : {});
  const day = () => `2026-0${dice.whole(1, 2)}-1${dice.whole(0, 9)}`;
  return {
    limit: dice.pick([1, 5, 40, 100]),
    orderBy: dice.pick(TRIAGE_ORDERS),
    ...maybe(0.4, () => ({ status: dice.pick(["Closed", ["Open", "Canceled"], ["Open"]]) })),
    ...maybe(0.3, () => ({ flags: dice.pick([...TRIAGE_FLAGS, ["stale", "unassigned"]]) })),
    ...maybe(0.3, () => ({ deadlineDays: dice.whole(1, 120) })),
    ...maybe(0.2, () => ({ asOf: day() })),
    ...maybe(0.15, () => ({ accountNumber: ["acc-1", "ACC-2", "ACC-3"] })),
    ...maybe(0.15, () => ({ documentNumber: `inv-${dice.whole(1, 60)}` })),
    ...maybe(0.15, () => ({ reason: dice.pick(["WRONG", "dam"]) })),
    ...maybe(0.15, () => ({ assignee: dice.pick(["lind", "ana@x.example"]) })),
    ...maybe(0.1, () => ({ unassigned: dice.chance(0.5) })),
    ...maybe(0.15, () => ({ amountMin: 12.5, amountMax: 50 })),
    ...maybe(0.15, () => ({ documentStatus: dice.pick(["open", "closed", "missing"]) })),
    ...maybe(0.15, () => ({ createdTo: day() })),
    ...maybe(0.1, () => ({ updatedBefore: "2026-02-20" })),
    ...maybe(0.1, () => ({ olderThanDays: dice.whole(0, 90) })),
    ...maybe(0.15, () => ({ currencyCode: dice.pick(["USD", "eur"]) })),
  };
};

onEveryStore("disputes_triage ranked by the platform", (at) => {
  let admin: Person;
  const dice = createDice(34);

  const addConfiguration = async (): Promise<void> => {
    await make(admin, "/departments", { code: "SALES", description: "Sales" });
    for (const [firstName, lastName] of [
      ["Ana", "Silva"],
      ["Bo", "Lind"],
    ] as const) {
      const person = { firstName, lastName, email: `${firstName.toLowerCase()}@x.example` };
      await make(admin, "/assignees", { departmentCode: "SALES", person, active: true });
    }
    await make(admin, "/resolutions", { code: "CREDIT", description: "Credit", isValid: true });
  };

  const addDocuments = async (): Promise<void> => {
    const accounts = Array.from({ length: 9 }, (_, place) => ({
      account_number: `ACC-${place + 1}`,
      name: `Account ${place + 1} Ltd`,
      currency: "USD",
    }));
    const documents = Array.from({ length: 50 }, (_, place) => ({
      document_number: `INV-${place + 1}`,
      account_number: `ACC-${toAccount(place + 1)}`,
      invoice_date: "2025-09-01",
      due_date: "2025-10-01",
      denomination: 100,
    }));
    const closures = [3, 7, 11, 20, 31].map((number) => ({
      document_number: `INV-${number}`,
      closure_reason: "paid",
      closure_date: "2026-02-01",
    }));
    for (const [kind, rows] of Object.entries({ accounts, documents, closures })) {
      const how = { format: "ndjson" as const };
      const imported = importRecords(at(), TENANT, kind as "documents", ndjson(rows), how);
      expect((await imported).rejects).toEqual([]);
    }
  };

  /** Adds notes and files on several days, which count as activity. */
  const addActivity = async (): Promise<void> => {
    const { body } = await admin.call("GET", `${DISPUTES}?Sort=DisputeCode`);
    for (const [place, { disputeId }] of (body as Dispute[]).entries()) {
      if (place % 9 === 0) at().clock.set(`2026-02-${10 + Math.floor(place / 30)}T03:30:00.000Z`);
      const path = `${DISPUTES}/${disputeId}`;
      if (dice.chance(0.2)) {
        await admin.call("POST", `${path}/disputenotes`, { body: { content: `Note ${place}` } });
      }
      if (dice.chance(0.1)) {
        await admin.call("POST", `${path}/attachments`, { body: { fileName: "proof.pdf" } });
      }
    }
  };

  beforeAll(async () => {
    const { store, clock } = at();
    clock.set("2026-02-10T03:00:00.000Z");
    admin = await at().tenant(TENANT);
    await setTenant({ store }, TENANT, [`timeZone=${ZONE}`, "disputeDays=60"]);
    await addConfiguration();
    await addDocuments();
    await loadDisputes(at(), TENANT, admin, { count: 260, seed: 34 });
    const record = createRecordChange({ store, clock, newId: randomId, operator: "op" });
    const late = { tenantId: TENANT, category: "price", code: "wrong", days: "30" };
    await setReasonDays({ store, clock, record }, late);
    await admin.call("PUT", `${CONFIGURATION}/assignees/by-email/bo@x.example`, {
      body: { departmentCode: "SALES", active: false },
    });
    await addActivity();
    clock.set(NOW);
    admin = await at().person(TENANT, { roles: ["Administrator"] });
  }, 60_000);

  const ask = async (
    person: Person,
    known: ReadonlySet<string>,
    args: Record<string, unknown>,
    skip = 0,
  ) => {
    const calendar = openCalendar(ZONE);
    const context = await createTestContext(at(), TENANT, person, { calendar, extensions: known });
    return {
      result: await runInsight(disputesTriage, { ...context, skip }, args),
      calls: context.calls,
    };
  };

  /** Compares both ways; returns the answer. */
  const compare = async (
    person: Person,
    args: Record<string, unknown>,
    skip = 0,
  ): Promise<InsightResult> => {
    const ranked = await ask(person, OURS, args, skip);
    const paged = await ask(person, PAGED, args, skip);
    expect({ args, ...ranked.result }).toEqual({ args, ...paged.result });
    expect([ranked.calls.includes(RANKED), ranked.calls.includes("disputes.list")]).toEqual([
      true,
      false,
    ]);
    return ranked.result;
  };

  verifies("IN-06", "IN-30", "IN-31", "IN-32");
  it("equals the reading in pages, with any conditions", async () => {
    const [rowCounts, words]: [number[], Set<string>] = [[], new Set()];
    for (let run = 0; run < RUNS; run += 1) {
      const { rowCount, items } = await compare(admin, drawArguments(dice), dice.pick([0, 0, 2]));
      rowCounts.push(rowCount);
      for (const { why } of items) for (const one of (why ?? []) as string[]) words.add(one);
    }
    expect(rowCounts.filter((count) => count > 0).length).toBeGreaterThan(RUNS / 2);
    const reasons = [...words].join("\n");
    for (const reason of ["overdue", "closed on", "duplicate of", "no assignee", "not active"]) {
      expect(reasons).toContain(reason);
    }
  });

  it("equals it without a right to read assignees and deadlines, and says the same", async () => {
    const reader = await at().person(TENANT, { grants: ["Dispute Management : READ"] });
    const { notes, flags } = await compare(reader, { limit: 100 });
    expect(notes.join(" ")).toMatch(/Assignees cannot be read.*Deadlines of reasons cannot be/);
    expect(flags).not.toHaveProperty("due");
    await compare(reader, { deadlineDays: 20, orderBy: "daysLeft" });
    // Without the configuration, names are compared with those in the disputes.
    const named = { reason: "Wrong", limit: 100 };
    const { calls, result } = await ask(reader, OURS, named);
    expect(calls).not.toContain(RANKED);
    expect(result).toEqual((await ask(reader, PAGED, named)).result);
  });

  it("reads a page in one request, and finds no other tenant's disputes", async () => {
    const { calls, result } = await ask(admin, OURS, { limit: 25 });
    expect(calls).toEqual([RANKED]);
    expect(result.items).toHaveLength(25);
    const other = await at().tenant("beside-ranked");
    const { status } = await other.call("POST", `${DISPUTES}/triage`, { body: {} });
    expect(status).toBe(200);
    const body = (await other.call("POST", `${DISPUTES}/triage`, { body: {} })).body;
    expect(body).toMatchObject({ rowCount: 0, items: [], currencyTotals: [] });
  });
});
