import { expect, it } from "vitest";
import { DAY, MINUTE } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createUses } from "../../src/platform/credentials.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { createAuthenticate } from "../../src/platform/http/authenticate.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { randomId } from "../../src/kit/ids.ts";
import {
  LIFETIMES,
  MASTER_KEY,
  onEveryStore,
  RETENTION,
  type TestPlatform,
  TRANSFERS,
  WEBHOOKS,
} from "../support/platform.ts";
import { findRow, findRows } from "../support/rows.ts";
import { createScanner } from "../../src/platform/clamd/scanner.ts";
import { verifies } from "../support/verifies.ts";

const usedAt = async (at: () => TestPlatform, userId: string): Promise<number[]> =>
  (await findRows(at().store.read, "sessions", { user_id: userId })).map((row) => row.used_at);

verifies("D-AUTH-2");
onEveryStore("when a credential was last used", (at) => {
  it("is visible at once and in the store within a second", async () => {
    const admin = await at().tenant("uses-flushed");
    at().clock.advance(10 * MINUTE);
    await admin.call("GET", "/dispute/v1/tenants/{t}/disputes");
    await expect.poll(() => usedAt(at, admin.userId)).toEqual([at().clock()]);
  });

  it("is written at shutdown, and never set back", async () => {
    const admin = await at().tenant("uses-closed");
    const { id } = await findRow(at().store.read, "sessions", { user_id: admin.userId });
    const now = at().clock();
    const [one, other] = [createUses(at().store, silentLog), createUses(at().store, silentLog)];
    one.note("sessions", id, now + 2);
    other.note("sessions", id, now + 1);
    expect([one.last(id), other.last(id)]).toEqual([now + 2, now + 1]);
    await one.close();
    await other.close();
    expect(await usedAt(at, admin.userId)).toEqual([now + 2]);
  });

  it("is read again before a session or a key counts as idle", async () => {
    const admin = await at().tenant("uses-again");
    const { keyId, apiKey } = (
      await admin.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key")
    ).body;
    const { store, clock } = at();
    const { id } = await findRow(store.read, "sessions", { user_id: admin.userId });
    const uses = createUses(store, silentLog);
    // It takes what it has read for true until it reads again.
    const believing = { ...store, stamp: () => 1 };
    const process = createAuthenticate({ store: believing, uses, lifetimes: LIFETIMES });
    const session = { token: admin.token, key: undefined };
    const key = { token: undefined, key: apiKey };
    for (const [credential, table, used, pause, refusal] of [
      [session, "sessions", id, 14 * MINUTE, "token_expired"],
      [key, "api_keys", keyId, 364 * DAY, "key_expired"],
    ] as const) {
      const ask = () => process.gateway({ ...credential, now: clock() });
      await ask();
      clock.advance(pause);
      const other = createUses(store, silentLog);
      other.note(table, used, clock());
      await other.close();
      clock.advance(pause);
      expect(await ask()).toMatchObject({ id: admin.userId });
      clock.advance(2 * pause);
      await expect(ask()).rejects.toMatchObject({ code: refusal });
    }
    await uses.close();
  });

  it("counts for every process on the store", async () => {
    const admin = await at().tenant("uses-shared");
    const second = createPlatform({
      store: at().store,
      files: createDiskFiles(at().files),
      clock: at().clock,
      newId: randomId,
      log: silentLog,
      masterKey: MASTER_KEY,
      ...TRANSFERS,
      scanner: createScanner(),
      auditReads: "mcp",
      tenantFileBytes: Number.MAX_SAFE_INTEGER,
      lifetimes: LIFETIMES,
      limits: {
        gatewayPerMinute: 0,
        loginPerMinute: 0,
        visitorPerMinute: 0,
        exportPerMinute: 0,
        exportPerHour: 0,
      },
      retention: RETENTION,
      trustedProxies: [],
      webhooks: WEBHOOKS,
      headerWord: "Platform",
      version: "test",
    });
    const askSecond = async () =>
      (
        await second.fetch(
          new Request("http://platform.test/user/v1/users/profile", {
            headers: { "X-Platform-Auth": admin.token },
          }),
        )
      ).status;
    expect(await askSecond()).toBe(200);
    for (let use = 0; use < 3; use += 1) {
      at().clock.advance(14 * MINUTE);
      expect((await admin.call("GET", "/dispute/v1/tenants/{t}/disputes")).status).toBe(200);
      await expect.poll(() => usedAt(at, admin.userId)).toEqual([at().clock()]);
    }
    at().clock.advance(14 * MINUTE);
    expect(await askSecond()).toBe(200);
    await second.close();
  });
});
