import { expect, it } from "vitest";
import { createReplayRecords } from "../../src/records/shared-records.ts";
import { DAY, MINUTE } from "../../src/kit/clock.ts";
import { createStorage } from "../../src/records/storage.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

onEveryStore("what may happen once", (at) => {
  const node = () => {
    const { oauthStore, clock } = at();
    return createReplayRecords(async () => createStorage(await oauthStore(), clock), clock);
  };

  verifies("C-66");
  it("claims a token on one of all nodes of a database", async () => {
    const nodes = Array.from({ length: 8 }, node);
    const expiresAt = at().clock() + 10 * MINUTE;
    const claims = await Promise.all(nodes.map(({ claim }) => claim("confirmation-1", expiresAt)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await node().claim("confirmation-1", expiresAt)).toBe(false);
    expect(await node().claim("confirmation-2", expiresAt)).toBe(true);
  });

  verifies("WK-41");
  it("keeps the content of a claim for every node until it is released", async () => {
    const expiresAt = at().clock() + DAY;
    const claims = await Promise.all(
      ["a", "b"].map((one) => node().claim("claim-1", expiresAt, one)),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await node().read("claim-1")).toBe(claims[0] === true ? "a" : "b");
    expect(await node().read("claim-2")).toBeUndefined();
    await node().release("claim-1");
    expect(await node().read("claim-1")).toBeUndefined();
    expect(await node().claim("claim-1", expiresAt)).toBe(true);
    await node().release("claim-1");
  });

  it("forgets a token after it has expired", async () => {
    const { oauthStore, clock } = at();
    await node().claim("confirmation-3", clock() + MINUTE);
    clock.advance(DAY);
    await node().claim("confirmation-4", clock() + MINUTE);
    const { read } = await oauthStore();
    const rows = await read.selectFrom("sign_in_records").select("id").execute();
    expect(rows).toEqual([{ id: "confirmation-4" }]);
  });
});
