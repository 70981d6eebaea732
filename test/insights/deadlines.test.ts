import { beforeAll, describe, expect, it } from "vitest";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { disputePacket } from "../../src/insights/dispute-packet.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { shortenTriage } from "../../src/insights/triage-forms.ts";
import { DAY } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { setReasonDays } from "../../src/platform/admin/reasons.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { rowsOf } from "../support/audit.ts";
import { make } from "../support/configuration.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { CONFIGURATION, DISPUTES, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "deadlines";
const NOW = "2026-11-20T09:00:00.000Z";
const DAYS = new Set(["reasons.list.dispute_days"]);

/** The age in days of each dispute, by its document; those of the reason LATE begin with L. */
const AGES: Record<string, number> = { "W-1": 50, "W-2": 40, "W-3": 30, "L-1": 9, "L-2": 3 };

onEveryStore("deadlines of disputes", (at) => {
  let admin: Person;

  beforeAll(async () => {
    at().clock.set(NOW);
    admin = await at().tenant(TENANT);
    await make(admin, "/categories", { code: "PRICE", description: "Price" });
    for (const code of ["WRONG", "LATE"]) {
      await make(admin, "/reasons", { categoryCode: "PRICE", code, description: code });
    }
    const rows = Object.entries(AGES).map(([documentNumber, age]) => ({
      accountNumber: "A-1",
      documentNumber,
      amount: 10,
      currencyCode: "USD",
      categoryCode: "PRICE",
      reasonCode: documentNumber.startsWith("L") ? "LATE" : "WRONG",
      createDate: new Date(Date.parse(NOW) - age * DAY).toISOString(),
    }));
    await importDisputes(at(), TENANT, ndjson(rows), { format: "ndjson" });
  });

  const needsOf = () => {
    const { store, clock } = at();
    return {
      store,
      clock,
      record: createRecordChange({ store, clock, newId: randomId, operator: "op" }),
    };
  };
  const triage = async (args: object = {}, extensions: ReadonlySet<string> = DAYS) =>
    runInsight(disputesTriage, await createTestContext(at(), TENANT, admin, { extensions }), {
      limit: 100,
      ...args,
    });
  const packetOf = async (documentNumber: string, args: object = {}) => {
    const context = await createTestContext(at(), TENANT, admin, { extensions: DAYS });
    const disputeId = `D-${documentNumber}-01`;
    const { items } = await runInsight(disputePacket, context, { disputeId, ...args });
    return items[0] as { dispute: Record<string, unknown>; missing: string[] };
  };
  const leftOf = ({ items }: Awaited<ReturnType<typeof triage>>) =>
    Object.fromEntries(items.map((one) => [one["documentNumber"], one["daysLeft"]]));

  it("are none until they are set", async () => {
    const found = await triage();
    expect(found["flags"]).toEqual({ documentClosed: 0, duplicate: 0, unassigned: 5, stale: 0 });
    expect(JSON.stringify(found.items)).not.toMatch(/daysLeft|\bdue\b/);
    const { dispute, missing } = await packetOf("W-1");
    expect([dispute["daysLeft"], missing.join()]).toEqual([
      undefined,
      expect.not.stringContaining("due"),
    ]);
  });

  verifies("WK-53");
  it("are those of the call, then of the reason, then of the tenant", async () => {
    const before = await triage();
    await setTenant(needsOf(), TENANT, ["disputeDays=45"]);
    expect(leftOf(await triage())).toEqual({
      "W-1": -5,
      "W-2": 5,
      "W-3": 15,
      "L-1": 36,
      "L-2": 42,
    });
    const late = { tenantId: TENANT, category: "price", code: "late" };
    expect(await setReasonDays(needsOf(), { ...late, days: "10" })).toMatchObject({
      code: "LATE",
      disputeDays: 10,
    });
    const found = await triage();
    expect(leftOf(found)).toEqual({ "W-1": -5, "W-2": 5, "W-3": 15, "L-1": 1, "L-2": 7 });
    expect(found["flags"]).toMatchObject({ due: 4 });
    const whyOf = (name: string) =>
      found.items.find((one) => one["documentNumber"] === name)?.["why"] as string[];
    expect(["W-1", "W-2", "L-1", "L-2"].map((name) => whyOf(name)[0])).toEqual([
      "decision overdue by 5 days",
      "decision due in 5 days",
      "decision due in 1 day",
      "decision due in 7 days",
    ]);
    const scoreOf = (all: typeof found, name: string) =>
      Number(all.items.find((one) => one["documentNumber"] === name)?.["score"]);
    for (const [name, points] of [
      ["W-1", 10],
      ["W-3", 0],
      ["L-2", 10],
    ] as const) {
      expect([name, scoreOf(found, name) - scoreOf(before, name)]).toEqual([name, points]);
    }
    const due = await triage({ flags: ["due"] });
    expect([due.itemsTotal, due.items.length]).toEqual([4, 4]);
    const once = await triage({ deadlineDays: 30 });
    expect(leftOf(once)).toEqual({ "W-1": -20, "W-2": -10, "W-3": 0, "L-1": 21, "L-2": 27 });
    expect(once.filter).toMatchObject({ deadlineDays: 30 });
  });

  verifies("WK-53");
  it("order a worklist, the nearest first and disputes without one last", async () => {
    const numbersOf = async (args: object) =>
      (await triage({ orderBy: "daysLeft", ...args })).items.map((one) => one["documentNumber"]);
    expect(await numbersOf({})).toEqual(["W-1", "L-1", "W-2", "L-2", "W-3"]);
    expect(await numbersOf({ limit: 2 })).toEqual(["W-1", "L-1"]);
    expect(await numbersOf({ deadlineDays: 20 })).toEqual(["W-1", "W-2", "W-3", "L-1", "L-2"]);
    const without = await triage({ orderBy: "daysLeft" }, new Set());
    expect(without.notes.join(" ")).toMatch(/No deadlines are known.* set deadlineDays/);
    expect((await triage({ orderBy: "daysLeft" })).notes.join(" ")).not.toMatch(/No deadlines/);
  });

  verifies("WK-53");
  it("show in the packet, and on platforms without them by the argument alone", async () => {
    const { dispute, missing } = await packetOf("W-1");
    expect([dispute["daysLeft"], dispute["due"], missing[0]]).toEqual([
      -5,
      true,
      "decision overdue by 5 days",
    ]);
    const calm = await packetOf("W-3");
    expect([calm.dispute["daysLeft"], calm.dispute["due"]]).toEqual([15, undefined]);
    expect((await packetOf("W-3", { deadlineDays: 30 })).missing[0]).toBe("decision due today");
    expect(leftOf(await triage({}, new Set()))["W-1"]).toBeUndefined();
    expect(leftOf(await triage({ deadlineDays: 45 }, new Set()))["W-1"]).toBe(-5);
  });

  it("do not hold for disputes that have ended", async () => {
    const all = (await admin.call("GET", DISPUTES)).body as Dispute[];
    const one = all.find(({ documentNumber }) => documentNumber === "W-2");
    const path = `${DISPUTES}/${one?.disputeId}`;
    await admin.call("PUT", path, { body: { status: 2 } });
    expect(leftOf(await triage({ status: ["Canceled"] }))).toEqual({ "W-2": undefined });
    expect((await packetOf("W-2")).dispute["daysLeft"]).toBeUndefined();
    await admin.call("PUT", path, { body: { status: 0 } });
  });

  it("are listed with the reasons on request alone, and stay when a reason is updated", async () => {
    const list = async (query: string) =>
      (await admin.call("GET", `${CONFIGURATION}/reasons${query}`)).body;
    const [plain] = await list("");
    expect(plain).not.toHaveProperty("disputeDays");
    const dated = await list("?DisputeDays=true");
    const daysOf = (all: { code: string; disputeDays: number }[]) =>
      Object.fromEntries(all.map(({ code, disputeDays }) => [code, disputeDays]));
    expect(daysOf(dated)).toEqual({ WRONG: 45, LATE: 10 });
    const late = dated.find(({ code }: { code: string }) => code === "LATE");
    const { status } = await admin.call("PUT", `${CONFIGURATION}/reasons/${late.reasonId}`, {
      body: { categoryCode: "PRICE", description: "Late delivery" },
    });
    expect(status).toBe(200);
    expect(daysOf(await list("?DisputeDays=true"))).toEqual({ WRONG: 45, LATE: 10 });
  });

  it("are named as unknown without the right to read reasons", async () => {
    const reader = await at().person(TENANT, { grants: ["Dispute Management : READ"] });
    const context = await createTestContext(at(), TENANT, reader, { extensions: DAYS });
    const { notes } = await runInsight(disputesTriage, context, {});
    expect(notes.join(" ")).toMatch(/Deadlines of reasons cannot be read: .*Dispute Configuration/);
  });

  verifies("WK-53");
  it("are set by commands with an audit entry, and refused out of range", async () => {
    const needs = needsOf();
    const late = { tenantId: TENANT, category: "PRICE", code: "LATE" };
    for (const days of ["0", "-1", "4.5", "", "99999", "many"]) {
      await expect(setReasonDays(needs, { ...late, days })).rejects.toMatchObject({
        code: "invalid_request",
      });
      await expect(setTenant(needs, TENANT, [`disputeDays=${days}`])).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
    for (const wrong of [{ code: "NONE" }, { category: "NONE" }, { tenantId: "none" }]) {
      await expect(setReasonDays(needs, { ...late, ...wrong, days: "5" })).rejects.toMatchObject({
        code: "not_found",
      });
    }
    await setTenant(needs, TENANT, ["disputeDays=none"]);
    const { items } = await triage({ orderBy: "daysLeft" });
    expect(items.slice(0, 2).map((one) => one["documentNumber"])).toEqual(["L-1", "L-2"]);
    await setReasonDays(needs, { ...late, days: "none" });
    expect(leftOf(await triage())["L-1"]).toBeUndefined();
    const rows = await rowsOf(at().store.read, TENANT);
    const own = rows.filter(({ action }) => action === "admin.reason_set");
    expect(own.map(({ metadata }) => JSON.parse(metadata))).toEqual([
      expect.objectContaining({ disputeDays: 10, actor: "op" }),
      expect.objectContaining({ disputeDays: null, actor: "op" }),
    ]);
    const settings = rows.filter(({ action }) => action === "admin.tenant_changed");
    expect(settings.map(({ metadata }) => JSON.parse(metadata).disputeDays)).toEqual([45, null]);
  });
});

verifies("WK-52");
describe("the short forms of a triage", () => {
  const item = {
    rank: 1,
    score: 50,
    disputeCode: "D-INV-7-01",
    accountNumber: "A-1",
    accountName: "Northwind",
    documentNumber: "INV-7",
    documentStatus: "open",
    amount: 5,
    ageDays: 40,
    daysSinceUpdate: 40,
    daysLeft: 5,
    why: [
      "decision due in 5 days",
      "possible duplicate of D-INV-7-02: same document, amount",
      "no activity for 40 days",
    ],
    lastNote: { date: "2026-11-01", text: "x".repeat(120) },
    attachments: 0,
  };

  it("cut the note first, then leave it out, then what other fields tell", () => {
    const [cut, bare, brief, briefest] = [...shortenTriage([item])].map(({ items }) => items[0]);
    expect(cut).toEqual({ ...item, lastNote: { date: "2026-11-01", text: `${"x".repeat(39)}…` } });
    expect(bare).not.toHaveProperty("lastNote");
    expect(brief).toEqual({
      score: 50,
      disputeCode: "D-INV-7-01",
      accountName: "Northwind",
      amount: 5,
      ageDays: 40,
      daysLeft: 5,
      why: ["possible duplicate of D-INV-7-02"],
    });
    const { score: _score, ...unscored } = brief ?? {};
    expect(briefest).toEqual(unscored);
  });

  it("keep what nothing else tells", () => {
    const { accountName: _name, ...unnamed } = item;
    const odd = {
      ...unnamed,
      documentNumber: "INV-8",
      documentStatus: "closed",
      attachments: "unknown",
    };
    const forms = [...shortenTriage([{ ...odd, daysSinceUpdate: 3 }])];
    expect(forms.at(2)?.items[0]).toMatchObject({
      accountNumber: "A-1",
      documentNumber: "INV-8",
      documentStatus: "closed",
      attachments: "unknown",
      daysSinceUpdate: 3,
    });
  });
});
