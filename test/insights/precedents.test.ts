import { beforeAll, describe, expect, it } from "vitest";
import { contract } from "../../src/contract/index.ts";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { startOfPrecedents } from "../../src/contract/insights/precedents.ts";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import { disputePacket } from "../../src/insights/dispute-packet.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { make } from "../support/configuration.ts";
import { createDice } from "../support/dice.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { DISPUTES, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "precedents";
const NOW = "2026-11-05T09:00:00.000Z";
const ZONE = "Europe/Berlin";
const DAY = 86_400_000;

const berlinDay = (time: string): string =>
  new Intl.DateTimeFormat("en-CA", { timeZone: ZONE, dateStyle: "short" }).format(new Date(time));
const daysBetween = (from: string, to: string): number =>
  (Date.parse(berlinDay(to)) - Date.parse(berlinDay(from))) / DAY;

const medianOf = (numbers: number[]): number | null => {
  const ordered = numbers.toSorted((a, b) => a - b);
  const half = ordered.length / 2;
  if (ordered.length === 0) return null;
  const [low = 0, high = 0] = [ordered[Math.ceil(half) - 1], ordered[Math.floor(half)]];
  return (low + high) / 2;
};

/** The figures of ended disputes, counted one by one. */
const countCases = (cases: readonly Dispute[], currencyCode: string) => {
  const total = cases.reduce(
    (sum, one) => sum + (one.currencyCode === currencyCode ? one.amount : 0),
    0,
  );
  const codes = [...new Set(cases.map(({ resolutionCode }) => resolutionCode))];
  return {
    cases: cases.length,
    canceled: cases.filter(({ status }) => status === 2).length,
    valid: cases.filter(({ isValid }) => isValid).length,
    medianDaysToClose: medianOf(
      cases.map(({ createDate, closedDate }) => daysBetween(createDate, closedDate ?? "")),
    ),
    resolutions: codes
      .map((resolutionCode) => {
        const own = cases.filter((one) => one.resolutionCode === resolutionCode);
        const amount = own.reduce(
          (sum, one) => sum + (one.currencyCode === currencyCode ? one.amount : 0),
          0,
        );
        const amountShare = total === 0 ? null : Math.round((amount / total) * 1000) / 1000;
        return { resolutionCode, count: own.length, amountShare };
      })
      .toSorted(
        (a, b) =>
          b.count - a.count || ((a.resolutionCode ?? "") < (b.resolutionCode ?? "") ? -1 : 1),
      )
      .slice(0, 5),
  };
};

/** The value that at least five and 60 % of the cases have. */
const agreed = <V>(values: readonly (V | null)[]) => {
  for (const value of new Set(values)) {
    const cases = values.filter((one) => one === value).length;
    if (value !== null && cases >= 5 && cases / values.length >= 0.6) {
      return { value, cases, of: values.length };
    }
  }
  return undefined;
};

onEveryStore("precedents of a dispute", (at) => {
  let admin: Person;
  let all: Dispute[];

  beforeAll(async () => {
    at().clock.set("2024-06-01T09:00:00.000Z");
    admin = await at().tenant(TENANT);
    await setTenant({ store: at().store }, TENANT, [`timeZone=${ZONE}`]);
    await make(admin, "/departments", { code: "SALES", description: "Sales" });
    await make(admin, "/departments", { code: "OPS", description: "Operations" });
    for (const [firstName, departmentCode] of [
      ["Ana", "SALES"],
      ["Bo", "SALES"],
      ["Cy", "OPS"],
    ]) {
      const person = { firstName, lastName: "Lee", email: `${firstName}@x.example` };
      await make(admin, "/assignees", { departmentCode, person, active: true });
    }
    for (const code of ["CREDIT", "REJECT", "SPLIT"]) {
      await make(admin, "/resolutions", { code, description: code, isValid: code === "CREDIT" });
    }
    const dice = createDice(5);
    const rows = Array.from({ length: 240 }, (_, number) => {
      const created = Date.parse("2024-09-01T00:00:00.000Z") + dice.whole(0, 640) * DAY;
      const createDate = created + dice.pick([0, DAY - 1, DAY / 2, 22 * 3_600_000]);
      const closedDate = createDate + dice.whole(0, 120) * DAY + dice.pick([0, 1000, DAY / 4]);
      const status = number < 12 ? 0 : dice.pick([1, 1, 1, 1, 2]);
      const reasonCode = dice.pick(["WRONG", "LATE", "DAMAGED"]);
      const agree = reasonCode === "LATE" ? 0.9 : 0.4;
      const resolutionCode = dice.chance(agree) ? "CREDIT" : dice.pick(["REJECT", "SPLIT"]);
      return {
        accountNumber: dice.pick(["ACC-1", "ACC-2", "ACC-3"]),
        documentNumber: `INV-${number}`,
        amount: dice.whole(1, 40) * 12.5,
        currencyCode: dice.pick(["USD", "USD", "EUR"]),
        categoryCode: "PRICE",
        reasonCode,
        assigneeEmail: dice.pick([
          "ana@x.example",
          "ana@x.example",
          "bo@x.example",
          "cy@x.example",
        ]),
        createDate: new Date(createDate).toISOString(),
        status,
        ...(status === 0 ? {} : { closedDate: new Date(closedDate).toISOString() }),
        ...(status === 1 && dice.chance(0.95) ? { resolutionCode } : {}),
      };
    });
    at().clock.set(NOW);
    const how = { format: "ndjson" as const, createConfiguration: true };
    const { rejects } = await importDisputes(at(), TENANT, ndjson(rows), how);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    await admin.call(
      "PUT",
      "/dispute/v1/tenants/{t}/configuration/assignees/by-email/bo@x.example",
      {
        body: { departmentCode: "SALES", active: false },
      },
    );
    admin = await at().person(TENANT, { roles: ["Administrator"] });
    all = (await admin.call("GET", DISPUTES)).body as Dispute[];
  });

  const packetOf = async (disputeId: string, extensions: ReadonlySet<string>) => {
    const context = await createTestContext(at(), TENANT, admin, {
      extensions,
      calendar: openCalendar(ZONE),
    });
    const { items, notes } = await runInsight(disputePacket, context, { disputeId });
    const [{ precedents, proposal } = {}] = items;
    return { precedents, proposal, notes };
  };

  const expectedOf = (dispute: Dispute) => {
    const cases = all.filter(
      (one) =>
        one.reasonId === dispute.reasonId &&
        one.status !== 0 &&
        one.disputeId !== dispute.disputeId &&
        berlinDay(one.closedDate ?? "") >= "2024-11-05",
    );
    const own = cases.filter(({ accountNumber }) => accountNumber === dispute.accountNumber);
    const closed = cases.filter(({ status }) => status === 1);
    const active: Record<string, string> = { "Ana Lee": "Ana@x.example", "Cy Lee": "Cy@x.example" };
    const nameOf = ({ assigneeName }: Dispute) => active[assigneeName ?? ""] ?? null;
    const values = {
      resolutionCode: agreed(closed.map(({ resolutionCode }) => resolutionCode)),
      isValid: agreed(closed.map(({ isValid }) => isValid)),
      assigneeEmail: agreed(
        closed.filter(({ departmentId }) => departmentId === dispute.departmentId).map(nameOf),
      ),
    };
    return {
      account: countCases(own, dispute.currencyCode),
      tenant: countCases(cases, dispute.currencyCode),
      own,
      cases,
      proposal: Object.fromEntries(
        Object.entries(values).filter(([, value]) => value !== undefined),
      ),
    };
  };

  verifies("WK-50", "WK-51");
  it("are counted like raw disputes, by the platform and from its lists", async () => {
    const open = all.filter(({ status }) => status === 0);
    expect(open.length).toBe(12);
    let proposals = 0;
    for (const dispute of open) {
      const { own, cases, proposal, ...expected } = expectedOf(dispute);
      for (const extensions of [new Set<string>(), new Set([contract.disputes.precedents.id])]) {
        const found = await packetOf(dispute.disputeId, extensions);
        const { alike, ...figures } = found.precedents as { alike: { disputeCode: string }[] };
        expect(figures).toEqual({ since: "2024-11-05", ...expected });
        expect(found.proposal ?? {}).toEqual(proposal);
        expect(alike).toHaveLength(Math.min(3, cases.length));
        const near = own.toSorted(
          (a, b) =>
            Number(b.currencyCode === dispute.currencyCode) -
              Number(a.currencyCode === dispute.currencyCode) ||
            Math.abs(a.amount - dispute.amount) - Math.abs(b.amount - dispute.amount) ||
            (a.disputeCode < b.disputeCode ? -1 : 1),
        );
        expect(alike[0]?.disputeCode).toBe(near[0]?.disputeCode);
      }
      proposals += Object.keys(proposal).length;
    }
    expect(proposals).toBeGreaterThan(3);
  });

  it("propose nothing for a dispute that has ended", async () => {
    const ended = all.find(({ status }) => status === 1);
    const { precedents, proposal } = await packetOf(ended?.disputeId ?? "", new Set());
    expect(proposal).toBeUndefined();
    expect(precedents).toMatchObject({ since: "2024-11-05" });
  });

  it("are refused for an unknown dispute", async () => {
    const { status, body } = await admin.call("POST", `${DISPUTES}/precedents`, {
      body: { disputeId: "none" },
    });
    expect([status, body.errors[0]?.field]).toEqual([400, "disputeId"]);
  });
});

describe("the first day of precedents", () => {
  it.each([
    ["2026-02-28T12:00:00.000Z", "2024-02-28"],
    ["2026-03-31T12:00:00.000Z", "2024-03-31"],
    ["2024-02-29T12:00:00.000Z", "2022-02-28"],
    ["2026-11-04T23:30:00.000Z", "2024-11-05"],
  ])("before %s is %s", (now, first) => {
    expect(startOfPrecedents(openCalendar(ZONE), Date.parse(now))).toBe(first);
  });
});
