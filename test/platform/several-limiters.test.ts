import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { finished, startChild } from "../support/child.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

describe.each(dialects)("rate limits of several processes ($name)", (dialect) => {
  verifies("EX-03", "D-RATE");
  it("allow together as many requests as one process would, in either window", async () => {
    const database = await dialect.createMigrated();
    const script = new URL("../store/limit-child.ts", import.meta.url);
    const grantedAt = async (now: number): Promise<number> => {
      const args = [60, now, 50, 70].map(String);
      const children = [1, 2, 3].map(() => startChild(script, args, database.environment));
      const granted = await Promise.all(children.map(finished));
      return granted.reduce((sum, one) => sum + Number(one), 0);
    };
    expect(await grantedAt(1000)).toBe(50);
    expect(await grantedAt(1000 + MINUTE)).toBe(20);
    await database.remove();
  }, 120_000);
});
