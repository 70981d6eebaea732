import { expect, it } from "vitest";
import { MAX_PARENT_DEPTH } from "../../src/platform/services/accounts/lineage.ts";
import { extentOf } from "../support/extent.ts";
import { ACCOUNT, accountAt, ingestTenant } from "../support/ingest.ts";
import { type Caller, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const LENGTH = 15;
const ROUNDS = extentOf(1, 5);

verifies("C-91");
onEveryStore("chains of accounts", (at) => {
  const attach = (call: Caller, number: string, parent: string) =>
    call("PATCH", accountAt(number), {
      body: { parent_account_number: parent, is_parent_account: true },
    });

  /** Creates a chain of accounts, the highest first. */
  const createChain = async (call: Caller, name: string): Promise<string[]> => {
    const numbers = Array.from({ length: LENGTH }, (_, index) => `${name}-${index}`);
    for (const [index, number] of numbers.entries()) {
      const parent = numbers[index - 1];
      const more =
        parent === undefined ? {} : { parent_account_number: parent, is_parent_account: true };
      const { status, text } = await call("POST", accountAt(number), {
        body: { ...ACCOUNT, ...more },
      });
      if (status !== 201) throw new Error(text);
    }
    return numbers;
  };

  const countParents = async (call: Caller, number: string): Promise<number> => {
    const { body } = await call("GET", accountAt(number));
    const parent: string | undefined = body.parent_account_number;
    return parent === undefined ? 0 : 1 + (await countParents(call, parent));
  };

  it("never become too deep by concurrent changes that are legal one by one", async () => {
    const call = await ingestTenant(at(), "chains");
    for (let round = 0; round < ROUNDS; round += 1) {
      const [high = [], middle = [], low = []] = await Promise.all(
        ["high", "middle", "low"].map((name) => createChain(call, `${name}${round}`)),
      );
      // Two chains may be joined, three have too many parents.
      const answers = await Promise.all([
        attach(call, middle[0] ?? "", high.at(-1) ?? ""),
        attach(call, low[0] ?? "", middle.at(-1) ?? ""),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
      const refused = answers.find(({ status }) => status === 422);
      expect(refused?.body.errors).toEqual([
        { field: "parent_account_number", code: "depth", message: expect.any(String) },
      ]);
      expect(await countParents(call, low.at(-1) ?? "")).toBeLessThanOrEqual(MAX_PARENT_DEPTH);
    }
  });

  it("never become circles by concurrent changes", async () => {
    const call = await ingestTenant(at(), "circles");
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one = [], other = []] = await Promise.all(
        ["one", "other"].map((name) => createChain(call, `${name}${round}`)),
      );
      const answers = await Promise.all([
        attach(call, one[0] ?? "", other.at(-1) ?? ""),
        attach(call, other[0] ?? "", one.at(-1) ?? ""),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    }
  });
});
