import { describe, expect, it } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createSeal } from "../../src/kit/seal.ts";
import { createDeliveryJob } from "../../src/platform/webhooks/deliver.ts";
import type { Send } from "../../src/platform/webhooks/send.ts";
import { createWorker } from "../../src/platform/jobs/worker.ts";
import { changeRows } from "../../src/platform/store/engine/rows.ts";
import { WEBHOOKS_PATH } from "../support/export-records.ts";
import { hooked, LOCAL_HOOKS } from "../support/hooked.ts";
import { status } from "../support/receiver.ts";
import { findRow } from "../support/rows.ts";
import { dialects } from "../support/stores.ts";
import { hmac, setUpWebhooks } from "../support/webhook-platform.ts";
import { verifies } from "../support/verifies.ts";

describe.each(dialects)("deliveries after failures ($name)", (dialect) => {
  const { on, url, work, attemptsOf, jobs } = setUpWebhooks(dialect);

  /** A worker over the same store as a second process has it, with sending of its own. */
  const otherWorker = (send: Send) => {
    const { store, clock } = on.at;
    const seal = createSeal(Buffer.alloc(32, 7), "webhook-secret");
    const { delaysMs } = LOCAL_HOOKS;
    const parts = { newId: randomId, log: silentLog, version: "2", seal, send, delaysMs };
    const needs = { store, clock, log: silentLog };
    return createWorker(needs, [createDeliveryJob({ ...parts, store, clock })]);
  };

  verifies("D-WH-9");
  it("begin the delay at the end of the attempt", async () => {
    await on.tenant.hook(url());
    on.receiver.answering((answer) => {
      on.at.clock.advance(8 * SECOND);
      answer.writeHead(500).end();
    });
    await on.tenant.finish("s-1");
    await work();
    on.at.clock.advance(30 * SECOND - 1);
    await work();
    expect(attemptsOf()).toEqual([1]);
    on.at.clock.advance(1);
    await work();
    expect(attemptsOf()).toEqual([1, 2]);
  });

  verifies("WH-13", "D-WH-5", "C-44");
  it("count an address that became private as a failed attempt", async () => {
    const hook = await on.tenant.hook(url());
    await on.at.store.transaction((tx) =>
      changeRows(tx, "webhooks", { id: hook.id }, { callback_url: "http://169.254.169.254:8080/" }),
    );
    await on.tenant.finish("s-1");
    await work();
    expect(await on.tenant.deliveries(hook)).toMatchObject([
      { attempt: 1, status: "failed", httpStatus: null, error: "BLOCKED_ADDRESS" },
    ]);
    expect(await jobs()).toHaveLength(1);
  });

  verifies("WH-15", "T-20", "D-WH-7");
  it("continue and are recorded after the webhook is deleted", async () => {
    const hook = await on.tenant.hook(url());
    on.receiver.answering(status(500));
    await on.tenant.finish("s-1");
    await work();
    await on.tenant.call("DELETE", `${WEBHOOKS_PATH}/${hook.id}`);
    await on.tenant.finish("s-1");
    on.receiver.answering(status(204));
    on.at.clock.advance(30 * SECOND);
    await work();
    expect(attemptsOf()).toEqual([1, 2]);
    const [, second] = on.receiver.received;
    expect(second?.headers["x-webhook-signature"]).toBe(
      `sha256=${hmac(hook.secret, second?.body ?? Buffer.alloc(0))}`,
    );
    expect((await on.tenant.call("GET", `${WEBHOOKS_PATH}/${hook.id}/deliveries`)).status).toBe(
      404,
    );
    const recorded = await on.at.store.read
      .selectFrom("webhook_attempts")
      .select(["attempt", "status"])
      .where("webhook_id", "=", hook.id)
      .orderBy("attempt")
      .execute();
    expect(recorded).toEqual([
      { attempt: 1, status: "failed" },
      { attempt: 2, status: "delivered" },
    ]);
  });

  verifies("WH-14");
  it("are listed newest first, up to a hundred attempts", async () => {
    const hook = await on.tenant.hook(url());
    for (let run = 0; run < 103; run += 1) {
      await on.tenant.finish(`s-${run}`);
      on.at.clock.advance(1);
    }
    await work();
    on.at.clock.advance(SECOND);
    await on.tenant.finish("s-last");
    await work();
    const told = await on.tenant.deliveries(hook);
    expect(told).toHaveLength(100);
    expect(told[0]).toMatchObject({ scheduleId: "s-last", attempt: 1 });
    const moments = told.map(({ createdAt }) => String(createdAt));
    expect(moments).toEqual(moments.toSorted().toReversed());
  });

  verifies("C-16");
  it("continue at the planned time in another process when one stops", async () => {
    await on.tenant.hook(url());
    on.receiver.answering(status(500));
    await on.tenant.finish("s-1");
    await work();
    const sent: string[] = [];
    const heir = otherWorker(async ({ headers }) => {
      sent.push(headers["X-Webhook-Attempt"] ?? "");
      return { httpStatus: 204, error: null };
    });
    on.at.clock.advance(30 * SECOND - 1);
    await heir.runDue();
    expect(sent).toEqual([]);
    on.at.clock.advance(1);
    await heir.runDue();
    await work();
    expect([sent, attemptsOf()]).toEqual([["2"], [1]]);
  });

  it("repeat an attempt that was sent but not recorded, under the same number", async () => {
    const hook = await on.tenant.hook(url());
    await on.tenant.finish("s-1");
    const sent: string[] = [];
    const dying = otherWorker(async ({ headers }) => {
      sent.push(headers["X-Webhook-Attempt"] ?? "");
      throw new Error("the process dies here");
    });
    await dying.runDue();
    expect([sent, await on.tenant.deliveries(hook)]).toEqual([["1"], []]);
    on.at.clock.advance(SECOND);
    await work();
    expect(attemptsOf()).toEqual([1]);
    expect(await on.tenant.deliveries(hook)).toMatchObject([{ attempt: 1, status: "delivered" }]);
  });

  it("end with one failed attempt if the secret cannot be decrypted", async () => {
    const hook = await on.tenant.hook(url());
    await on.at.store.transaction((tx) =>
      tx.updateTable("webhooks").set({ secret: "spoilt" }).where("id", "=", hook.id).execute(),
    );
    await on.tenant.finish("s-1");
    const attempts = async () => (await on.tenant.deliveries(hook)).map(({ status }) => status);
    // Five tries of five attempts, each later than the one before by less than a minute beyond its delay.
    for (let minute = 0; minute < 40; minute += 1) {
      on.at.clock.advance(60 * SECOND);
      await work();
    }
    expect(await attempts()).toEqual(["abandoned", "failed", "failed", "failed", "failed"]);
    expect(await on.tenant.deliveries(hook)).toMatchObject([
      { error: "INTERNAL", httpStatus: null },
      {},
      {},
      {},
      {},
    ]);
    expect([on.receiver.received, await jobs()]).toEqual([[], []]);
  });

  it("do not wait for hundreds of receivers that do not respond", async () => {
    const SLOW = 300;
    const template = await on.tenant.hook(url("/slow"));
    const row = await findRow(on.at.store.read, "webhooks", { id: template.id });
    const slow = Array.from({ length: SLOW }, (_, index) => ({ ...row, id: `${row.id}-${index}` }));
    for (let from = 0; from < SLOW; from += 100) {
      const rows = slow.slice(from, from + 100);
      await on.at.store.transaction((tx) => tx.insertInto("webhooks").values(rows).execute());
    }
    const held: (() => void)[] = [];
    on.receiver.answering((answer, { path }) => {
      const end = (): void => void answer.writeHead(204).end();
      if (path === "/slow") held.push(end);
      else end();
    });
    await on.tenant.finish("s-slow");
    const working = work();
    await expect.poll(() => held.length, { timeout: 60_000 }).toBe(SLOW + 1);
    const other = await hooked(on.at);
    const quick = await other.hook(url("/quick"));
    for (let run = 0; run < 5; run += 1) {
      await other.finish(`s-${run}`);
    }
    const second = work();
    await expect
      .poll(async () => (await other.deliveries(quick)).length, { timeout: 60_000 })
      .toBe(5);
    expect(held).toHaveLength(SLOW + 1);
    for (const end of held) end();
    await Promise.all([working, second]);
    expect(await jobs()).toEqual([]);
  });

  it("make at most two concurrent calls to one webhook", async () => {
    await on.tenant.hook(url());
    let now = 0;
    let most = 0;
    on.receiver.answering((answer) => {
      now += 1;
      most = Math.max(most, now);
      setImmediate(() => {
        now -= 1;
        answer.writeHead(204).end();
      });
    });
    for (let run = 0; run < 12; run += 1) {
      await on.tenant.finish(`s-${run}`);
    }
    await work();
    expect(on.receiver.received).toHaveLength(12);
    expect(most).toBeLessThanOrEqual(2);
  });
});
