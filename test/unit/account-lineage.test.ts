import { expect, it } from "vitest";
import {
  MAX_DESCENDANTS,
  MAX_PARENT_DEPTH,
  parentChainFaults,
} from "../../src/platform/services/accounts/lineage.ts";
import { verifies } from "../support/verifies.ts";

const numbers = (length: number): string[] => Array.from({ length }, (_, at) => `A-${at}`);

verifies("C-91");
it("reads a bounded number of accounts below one that gets another parent", async () => {
  const limits: number[] = [];
  const withChildren = (width: number) => ({
    current: null,
    parentOf: async () => null,
    async childrenOf(_numbers: readonly string[], limit: number) {
      limits.push(limit);
      return numbers(Math.min(width, limit));
    },
  });
  const check = (width: number) =>
    parentChainFaults({ parent_account_number: "P" }, "A", withChildren(width));
  expect(await check(MAX_DESCENDANTS + 1)).toMatchObject([{ code: "too_many" }]);
  expect(limits).toEqual([MAX_DESCENDANTS + 1]);
  expect(await check(1)).toMatchObject([{ code: "depth" }]);
  expect(limits).toHaveLength(1 + MAX_PARENT_DEPTH);
});

verifies("C-91");
it("reads no account below one that keeps its parent, or has none", async () => {
  const lineage = {
    current: "P",
    parentOf: async () => null,
    childrenOf: async () => Promise.reject(new Error("read")),
  };
  expect(await parentChainFaults({ parent_account_number: "P" }, "A", lineage)).toEqual([]);
  expect(await parentChainFaults({ parent_account_number: null }, "A", lineage)).toEqual([]);
  await expect(parentChainFaults({ parent_account_number: "Q" }, "A", lineage)).rejects.toThrow();
});
