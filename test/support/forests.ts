import { sql } from "kysely";
import { createDice } from "./dice.ts";
import { importRecords } from "./importing.ts";
import { ndjson } from "./payment-rows.ts";
import type { TestPlatform } from "./platform.ts";

/** An account of a forest: chains, accounts below numbers that do not exist, and circles. */
export type Branch = {
  account_number: string;
  name: string;
  currency: string;
  parent?: string;
  account_group?: string;
  credit_limit?: number;
};

/** Parents that lead in a circle: one of itself, two of each other, and a chain below them. */
const CIRCLES = [
  ["ROUND-1", "ROUND-1"],
  ["ROUND-3", "ROUND-2"],
  ["ROUND-2", "ROUND-3"],
  ["ROUND-4", "ROUND-3"],
  ["ROUND-5", "ROUND-4"],
] as const;

/** Creates a random forest; an account's parent is one before it, a missing number, or none. */
export const createForest = (seed: number, count: number): Branch[] => {
  const dice = createDice(seed);
  const numberOf = (place: number): string => `${dice.chance(0.5) ? "Acc" : "b"}-${place}`;
  const forest: Branch[] = [];
  const add = (account_number: string, parent: string | undefined): void => {
    forest.push({
      account_number,
      name: `Account ${forest.length}`,
      currency: dice.pick(["EUR", "USD"]),
      ...(parent === undefined ? {} : { parent }),
      ...(dice.chance(0.6) ? { account_group: dice.pick(["north", "Süd"]) } : {}),
      ...(dice.chance(0.5) ? { credit_limit: dice.pick([0, 50, 100.5, 400]) } : {}),
    });
  };
  for (let place = 0; place < count; place += 1) {
    const recent = forest.slice(-12).map(({ account_number }) => account_number);
    const parent = dice.pick([`Gone-${dice.whole(1, 3)}`, ...recent]);
    add(numberOf(place), dice.chance(0.25) ? undefined : parent);
  }
  for (const [number, parent] of CIRCLES) add(number, parent);
  return forest;
};

/** Loads the accounts. Imports refuse circles, so these are written to the store. */
export const loadForest = async (
  at: TestPlatform,
  tenantId: string,
  forest: readonly Branch[],
): Promise<void> => {
  const isRound = ({ account_number }: Branch): boolean => account_number.startsWith("ROUND");
  const rows = forest.map((branch) => {
    const { parent, ...rest } = branch;
    return parent === undefined || isRound(branch)
      ? rest
      : { ...rest, parent_account_number: parent, is_parent_account: true };
  });
  const how = { format: "ndjson" as const };
  const { rejects } = await importRecords(at, tenantId, "accounts", ndjson(rows), how);
  if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
  await at.store.transaction(async (tx) => {
    for (const { account_number, parent } of forest.filter(isRound)) {
      const tail = `,"parent_account_number":${JSON.stringify(parent)},"is_parent_account":true}`;
      await sql`update accounts set parent_account_number = ${parent},
        fields = substr(fields, 1, length(fields) - 1) || ${tail}
        where tenant_id = ${tenantId} and account_number = ${account_number}`.execute(tx);
    }
  }, tenantId);
};

/** More steps than any chain of a test has. */
const STEPS = 500;

const listSteps = (parents: ReadonlyMap<string, string>, from: string): string[] => {
  const steps = [from];
  for (let step = 0; step < STEPS; step += 1) {
    const parent = parents.get(steps.at(-1) ?? "");
    if (parent === undefined) return steps;
    steps.push(parent);
  }
  return steps;
};

/** Reads parents by walking step by step, which ends in any case. */
export const modelFamilies = (forest: readonly Branch[]) => {
  const parents = new Map(
    forest.flatMap(({ account_number, parent }) =>
      parent === undefined ? [] : [[account_number, parent] as const],
    ),
  );
  return {
    topOf(number: string): string {
      const steps = listSteps(parents, number);
      const last = steps.at(-1) ?? number;
      return steps.length <= STEPS ? last : (steps.slice(-STEPS / 2).toSorted()[0] ?? number);
    },
    isBelow: (number: string, parent: string): boolean =>
      listSteps(parents, number).includes(parent),
    groupOf: (number: string): string | null =>
      forest.find(({ account_number }) => account_number === number)?.account_group ?? null,
    /** The topmost account above one that has a limit; of a circle, its smallest number, or the account itself. */
    limitOf(number: string): Branch | undefined {
      const steps = listSteps(parents, number);
      const isCircle = steps.length > STEPS;
      const holders = isCircle ? [this.topOf(number), number] : steps.toReversed();
      return holders
        .map((holder) => forest.find(({ account_number }) => account_number === holder))
        .find((holder) => holder?.credit_limit !== undefined);
    },
  };
};
