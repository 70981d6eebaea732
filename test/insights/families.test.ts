import { beforeAll, describe, expect, it } from "vitest";
import { createTopSearch, listAncestors } from "../../src/contract/insights/families.ts";
import { createFamilies, readFamily } from "../../src/insights/families.ts";
import type { InsightContext } from "../../src/insights/insight.ts";
import { createDice } from "../support/dice.ts";
import { createForest, loadForest, modelFamilies } from "../support/forests.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, type TestContext } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

describe("parents of accounts", () => {
  const topsOf = (parents: Record<string, string>) => {
    const findTop = createTopSearch((number) => parents[number]);
    return Object.fromEntries(Object.keys(parents).map((number) => [number, findTop(number)]));
  };

  verifies("WK-60");
  it.each([
    [{ A: "B", B: "C", C: "D" }, { A: "D", B: "D", C: "D" }, "a chain, whose top does not exist"],
    [{ A: "A", B: "A" }, { A: "A", B: "A" }, "a parent of itself"],
    [{ B: "C", C: "B", A: "C" }, { A: "B", B: "B", C: "B" }, "parents of each other"],
    [
      { Z: "Y", Y: "C", C: "B", B: "D", D: "C" },
      { Z: "B", Y: "B", C: "B", B: "B", D: "B" },
      "three",
    ],
  ])("has the tops of %j as %j: %s", (parents, tops) => {
    expect(topsOf(parents)).toEqual(tops);
  });

  it("takes linear time for a long chain", () => {
    const length = 50_000;
    let steps = 0;
    const counted = createTopSearch((number) => {
      steps += 1;
      return Number(number) < length ? String(Number(number) + 1) : null;
    });
    for (let number = length; number > 0; number -= 1)
      expect(counted(String(number))).toBe("50000");
    expect(steps).toBeLessThan(5 * length);
  });

  it("lists what is above an account once", () => {
    const parents: Record<string, string> = { A: "B", B: "C", C: "B" };
    expect([...listAncestors("A", (number) => parents[number])]).toEqual(["A", "B", "C"]);
  });
});

const TENANT = "families";
const COUNT = 60;

onEveryStore("families of accounts", (at) => {
  const admin = useTenant(at, TENANT);
  const forest = createForest(3, COUNT);
  const model = modelFamilies(forest);
  const numbers = forest.map(({ account_number }) => account_number);
  const disputed = [...numbers, "Gone-1", "Unknown-1"];
  let context: TestContext;

  beforeAll(async () => {
    context = await createTestContext(at(), TENANT, admin);
    await loadForest(at(), TENANT, forest);
    const dice = createDice(8);
    const rows = Array.from({ length: 200 }, (_, number) => ({
      accountNumber: dice.pick(disputed),
      documentNumber: `INV-${number}`,
      amount: dice.whole(1, 900) / 4,
      currencyCode: dice.pick(["EUR", "USD"]),
      categoryCode: "PRICE",
      reasonCode: "WRONG",
      createDate: "2026-02-01",
    }));
    const how = { format: "ndjson" as const, createConfiguration: true };
    const { rejects } = await importDisputes(at(), TENANT, ndjson(rows), how);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  });

  const timed = (more: Partial<InsightContext> = {}): InsightContext => ({
    ...context,
    skip: 0,
    endsAt: Number.MAX_SAFE_INTEGER,
    ...more,
  });

  verifies("WK-60");
  it("reads an account and everything below it, both ways", async () => {
    const extended = timed({ extensions: new Set(["accounts.list.family"]) });
    const roots = [...new Set(numbers.map(model.topOf))].slice(0, 12);
    for (const root of [...roots, "ROUND-3", "Gone-2", numbers[7] ?? ""]) {
      const expected = numbers.filter((number) => model.isBelow(number, root));
      const { members, isPartial, notes } = await readFamily(extended, root);
      const found = members.map(({ accountNumber }) => accountNumber);
      expect(new Set(found)).toEqual(new Set(expected));
      expect([found.length, isPartial, notes]).toEqual([expected.length, false, []]);
      if (numbers.includes(root)) expect(found[0]).toBe(root);
    }
    const whole = await readFamily(extended, "ROUND-2");
    const sought = await readFamily(timed(), "ROUND-2");
    const disputedOnly = await readFamily(timed(), roots[0] ?? "");
    expect(sought.members).toEqual(
      whole.members.filter((one) =>
        sought.members.some((two) => two.accountNumber === one.accountNumber),
      ),
    );
    expect(sought.notes[0]).toContain("does not list the accounts below a parent");
    expect(disputedOnly.isPartial).toBe(true);
  });

  verifies("WK-60");
  it("reads parents and groups one by one, at most 500 accounts, and says so", async () => {
    const families = createFamilies(timed());
    await families.read(disputed);
    for (const number of disputed) {
      expect([number, families.topOf(number)]).toEqual([number, model.topOf(number)]);
      expect(families.groupOf(number)).toBe(model.groupOf(number));
      for (const parent of ["ROUND-4", "ROUND-2", numbers[2] ?? ""]) {
        expect(families.isBelow(number, new Set([parent.toLowerCase()]))).toBe(
          model.isBelow(number, parent),
        );
      }
    }
    expect([families.isPartial(), families.notes()]).toEqual([false, []]);
    const before = context.calls.length;
    const many = Array.from({ length: 501 }, (_, place) => `None-${place}`);
    const limited = createFamilies(timed());
    await limited.read(many);
    await limited.read(["None-9", "Other"]);
    expect(context.calls.length - before).toBe(500);
    expect(limited.isPartial()).toBe(true);
    expect(limited.notes()).toEqual([expect.stringContaining("groups of 2 accounts are unknown")]);
    expect(limited.topOf("None-500")).toBe("None-500");
  });
});
