import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type Hooked, hooked, LOCAL_HOOKS } from "./hooked.ts";
import { type TestPlatform, startPlatform } from "./platform.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { findRows } from "./rows.ts";
import type { Dialect } from "./stores.ts";

const BLOCK_BYTES = 64;

/** HMAC-SHA256 as RFC 2104 writes it, from the hash alone. */
export const hmac = (secret: string, body: Buffer): string => {
  const key = Buffer.alloc(BLOCK_BYTES);
  key.write(secret);
  const hash = (pad: number, text: Buffer): Buffer =>
    createHash("sha256")
      .update(Buffer.concat([key.map((byte) => byte ^ pad), text]))
      .digest();
  return hash(0x5c, hash(0x36, body)).toString("hex");
};

/** Starts a platform, and for each test a new tenant and receiver; `on` has them once tests run. */
export const setUpWebhooks = (dialect: Dialect) => {
  const on = {} as { at: TestPlatform; tenant: Hooked; receiver: Receiver };

  beforeAll(async () => {
    on.at = await startPlatform(dialect, { webhooks: LOCAL_HOOKS });
  });

  afterAll(() => on.at.close());

  beforeEach(async () => {
    on.receiver = await startReceiver();
    on.tenant = await hooked(on.at);
  });

  afterEach(async () => {
    await on.receiver.close();
    // Removes deliveries that would be sent in the next test.
    await on.at.store.transaction(async (tx) => {
      await tx.deleteFrom("jobs").execute();
      await tx.deleteFrom("webhook_deliveries").execute();
    });
  });

  const url = (path = "/in"): string => `http://127.0.0.1:${on.receiver.port}${path}`;

  const work = (): Promise<void> => on.at.platform.worker.runDue();

  const attemptsOf = (all = on.receiver.received) =>
    all.map(({ headers }) => Number(headers["x-webhook-attempt"]));

  const jobs = () => findRows(on.at.store.read, "jobs", { kind: "webhook-delivery" });

  return { on, url, work, attemptsOf, jobs };
};
