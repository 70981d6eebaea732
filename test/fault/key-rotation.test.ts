import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import { issueKey } from "../../src/platform/admin/keys.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import { SEALS } from "../../src/platform/store/sealed-columns.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createDice } from "../support/dice.ts";
import { WEBHOOKS_PATH } from "../support/export-records.ts";
import { type Database, dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { type Server, startServer } from "./server.ts";

const OLD = "5f0e9d8c7b6a4132".repeat(4);
const NEW = "a1b2c3d4e5f60789".repeat(4);
const TENANTS = 40;
const OLD_HOOKS = 1500;
const KILLS = 4;
const CLIENTS = 4;
const MINUTE = 60_000;
const SEED = 20_261_122;
const ROTATE = ["admin", "secrets", "rotate"];

let database: Database;
let server: Server | undefined;

afterEach(async () => {
  await server?.stop();
  await database.remove();
});

/** Sets the master key of the data folder, where stores that tests open find it. */
const useKey = async (key: string): Promise<void> => {
  const path = join(database.environment["RECEIVABLES_DATA"] ?? "", "secret.key");
  await rm(path, { force: true });
  await writeFile(path, key, { mode: 0o600 });
};

/** Fills a store under the former key: tenants with a log each, and many webhooks of the first one. */
const fill = async (): Promise<string> => {
  await useKey(OLD);
  const store = await database.open();
  const needs = { store, clock: systemClock, newId: randomId };
  for (let index = 0; index < TENANTS; index += 1) {
    await createTenant(needs, { tenantId: `t${index}`, name: "Tenant" });
  }
  const seal = createSeal(Buffer.from(OLD), SEALS.webhook);
  const rows = Array.from({ length: OLD_HOOKS }, (_, index) => ({
    tenant_id: "t1",
    id: `old-${index}`,
    schedule_id: null,
    callback_url: "https://receiver.example",
    secret: seal.seal(`secret of old-${index}`),
    created_at: 1,
    updated_at: 1,
  }));
  for (let from = 0; from < rows.length; from += 500) {
    await store.transaction((tx) =>
      tx
        .insertInto("webhooks")
        .values(rows.slice(from, from + 500))
        .execute(),
    );
  }
  const { apiKey } = await issueKey(needs, { tenantId: "t0", name: "test" });
  await store.close();
  return apiKey;
};

/** Creates and removes webhooks until told to stop; returns the secrets of those that exist. */
const work = async (
  { send }: Server,
  apiKey: string,
  isOver: () => boolean,
): Promise<Map<string, string>> => {
  const secrets = new Map<string, string>();
  const headers = { "X-API-Key": apiKey };
  while (!isOver()) {
    const body = { callbackUrl: "http://127.0.0.1:9009/in" };
    const made = await send({ method: "POST", path: WEBHOOKS_PATH, headers, body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    secrets.set(made.body.id, made.body.secret);
    const [first = ""] = secrets.keys();
    if (secrets.size <= 3) continue;
    const gone = await send({ method: "DELETE", path: `${WEBHOOKS_PATH}/${first}`, headers });
    expect(gone.status).toBeLessThan(300);
    secrets.delete(first);
  }
  return secrets;
};

describe.each(dialects)("a rotation of the master key under load ($name)", (dialect) => {
  verifies("OP-41");
  it(
    "loses nothing when it is killed and run again while a server works",
    { timeout: 5 * MINUTE },
    async () => {
      database = await dialect.createMigrated();
      const apiKey = await fill();
      await useKey(NEW);
      const alone = { ...database.environment, RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.0/8" };
      const both = { ...alone, RECEIVABLES_SECRET_KEY_PREVIOUS: OLD };
      const refused = await runCli(["platform", "--port", "0"], alone);
      expect(refused).toMatchObject({ status: 1, stdout: "" });
      expect(refused.stderr).toContain("another master key");
      server = await startServer(
        { ...both, RECEIVABLES_RATE_MINUTE: "0", RECEIVABLES_RATE_HOUR: "0" },
        CLIENTS,
      );
      let isOver = false;
      const { send } = server;
      const working = Promise.all(
        Array.from({ length: CLIENTS }, () => work({ send } as Server, apiKey, () => isOver)),
      );
      const dice = createDice(SEED);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const rotation = startCli(ROTATE, both);
        await pause(dice.whole(300, 1500));
        await rotation.end("SIGKILL");
      }
      const whole = await runCli(ROTATE, both);
      expect(whole, whole.stderr).toMatchObject({ status: 0 });
      const again = await runCli(ROTATE, both);
      expect(JSON.parse(again.stdout)).toMatchObject({ webhooks: 0, auditLogs: 0, auditKeys: 0 });
      isOver = true;
      const secrets = new Map((await working).flatMap((made) => [...made]));
      expect(secrets.size).toBeGreaterThan(0);
      expect(server.stderr()).toBe("");
      await server.stop();
      server = await startServer(alone, 1);
      const path = WEBHOOKS_PATH;
      const listed = await server.send({ method: "GET", path, headers: { "X-API-Key": apiKey } });
      expect(listed.status, JSON.stringify(listed.body)).toBe(200);
      const store = await database.open();
      try {
        const seal = createSeal(Buffer.from(NEW), SEALS.webhook);
        const rows = await store.read.selectFrom("webhooks").select(["id", "secret"]).execute();
        expect(rows).toHaveLength(OLD_HOOKS + secrets.size);
        const wrong = rows.filter(
          ({ id, secret }) => seal.open(secret) !== (secrets.get(id) ?? `secret of ${id}`),
        );
        expect(wrong).toEqual([]);
        for (let index = 0; index < TENANTS; index += 1) {
          expect(await verifyAudit({ store }, `t${index}`)).toMatchObject({
            ok: true,
            fault: null,
          });
        }
      } finally {
        await store.close();
      }
    },
  );
});
