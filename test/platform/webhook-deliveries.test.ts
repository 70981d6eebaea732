import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAY, SECOND } from "../../src/kit/clock.ts";
import { type Hooked, hooked, LOCAL_HOOKS, runOf } from "../support/hooked.ts";
import { type TestPlatform, startPlatform } from "../support/platform.ts";
import { type Received, type Receiver, startReceiver, status } from "../support/receiver.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const BLOCK_BYTES = 64;

/** HMAC-SHA256 as RFC 2104 writes it, from the hash alone. */
const hmac = (secret: string, body: Buffer): string => {
  const key = Buffer.alloc(BLOCK_BYTES);
  key.write(secret);
  const hash = (pad: number, text: Buffer): Buffer =>
    createHash("sha256")
      .update(Buffer.concat([key.map((byte) => byte ^ pad), text]))
      .digest();
  return hash(0x5c, hash(0x36, body)).toString("hex");
};

const bodyOf = ({ body }: Received) => JSON.parse(body.toString("utf8"));

describe.each(dialects)("deliveries ($name)", (dialect) => {
  let at: TestPlatform;

  let tenant: Hooked;

  let receiver: Receiver;

  beforeAll(async () => {
    at = await startPlatform(dialect, {}, undefined, LOCAL_HOOKS);
  });

  afterAll(() => at.close());

  beforeEach(async () => {
    receiver = await startReceiver();
    tenant = await hooked(at);
  });

  afterEach(async () => {
    await receiver.close();
    // Removes deliveries of an earlier test, which would be sent in this one.
    await at.store.transaction(async (tx) => {
      await tx.deleteFrom("jobs").execute();
      await tx.deleteFrom("webhook_deliveries").execute();
    });
  });

  const url = (path = "/in"): string => `http://127.0.0.1:${receiver.port}${path}`;

  const work = (): Promise<void> => at.platform.worker.runDue();

  const attemptsOf = (all = receiver.received) =>
    all.map(({ headers }) => Number(headers["x-webhook-attempt"]));

  const left = () => at.store.read.selectFrom("webhook_deliveries").select("id").execute();

  const jobs = () =>
    at.store.read.selectFrom("jobs").select("id").where("kind", "=", "webhook-delivery").execute();

  verifies("WH-07", "WH-08");
  it("announce a completed run with its id, schedule and time", async () => {
    await tenant.hook(url("/in?who=us"));
    const run = await tenant.finish("s-1");
    at.clock.advance(5 * SECOND);
    await work();
    const [request] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(request?.path).toBe("/in?who=us");
    expect(request && bodyOf(request)).toEqual({
      event: "export.completed",
      scheduleId: "s-1",
      payload: run,
      deliveredAt: new Date(at.clock()).toISOString(),
    });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "receivables-mcp/1.2.3",
      "x-webhook-attempt": "1",
      "x-webhook-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  verifies("WH-07");
  it("announce a failed run with the reason", async () => {
    await tenant.hook(url());
    const failure = { status: "failed", errorStage: "query", errorDetail: "no “rows”\n\u2028 🧾" };
    const run = await tenant.finish("s-1", failure);
    await work();
    expect(receiver.received.map(bodyOf)).toMatchObject([{ event: "export.failed", payload: run }]);
  });

  verifies("WH-09", "C-31");
  it("are signed with the HMAC of their bytes under the secret", async () => {
    const { secret } = await tenant.hook(url());
    await tenant.finish("s-1", { errorDetail: "Zoë \\u00e9 \u0007 </script> 🧾" });
    await work();
    const [request] = receiver.received;
    if (request === undefined) throw new Error("nothing was sent");
    expect(request.headers["x-webhook-signature"]).toBe(`sha256=${hmac(secret, request.body)}`);
    expect(hmac(secret, Buffer.concat([request.body, Buffer.from(" ")]))).not.toBe(
      hmac(secret, request.body),
    );
  });

  verifies("WH-06");
  it("go to the subscribed webhooks of the run's tenant only", async () => {
    const all = await tenant.hook(url("/all"));
    const one = await tenant.hook(url("/one"));
    const other = await tenant.hook(url("/other"));
    const bind = (id: string, schedule_id: string) =>
      at.store.transaction((tx) =>
        tx.updateTable("webhooks").set({ schedule_id }).where("id", "=", id).execute(),
      );
    await bind(one.id, "s-1");
    await bind(other.id, "s-2");
    const stranger = await hooked(at);
    await stranger.hook(url("/stranger"));
    await tenant.finish("s-1");
    await work();
    expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(["/all", "/one"]);
    expect(await tenant.deliveries(all)).toHaveLength(1);
    expect(await tenant.deliveries(other)).toEqual([]);
  });

  it("are added in the transaction that ends the run", async () => {
    await tenant.hook(url());
    const undone = at.store.transaction(async (tx) => {
      await tenant.tell(tx, runOf("s-1"));
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    await work();
    expect([receiver.received, await left(), await jobs()]).toEqual([[], [], []]);
  });

  verifies("WH-13", "WH-17", "D-WH-2");
  it("are repeated under the same id with a new signature until they are delivered", async () => {
    const hook = await tenant.hook(url());
    receiver.answering((answer, { headers }) =>
      answer.writeHead(headers["x-webhook-attempt"] === "3" ? 200 : 503).end(),
    );
    await tenant.finish("s-1");
    const started = at.clock();
    for (const seconds of [0, 30, 60, 120, 300]) {
      at.clock.advance(seconds * SECOND);
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
      await work();
    }
    expect(attemptsOf()).toEqual([1, 2, 3]);
    expect(new Set(receiver.received.map(({ headers }) => headers["x-webhook-id"])).size).toBe(1);
    const moment = (seconds: number) => new Date(started + seconds * SECOND).toISOString();
    expect(receiver.received.map((one) => bodyOf(one).deliveredAt)).toEqual([
      moment(0),
      moment(30),
      moment(90),
    ]);
    for (const { headers, body } of receiver.received) {
      expect(headers["x-webhook-signature"]).toBe(`sha256=${hmac(hook.secret, body)}`);
    }
    const about = { webhookId: hook.id, scheduleId: "s-1", event: "export.completed" };
    const failure = { ...about, status: "failed", httpStatus: 503, error: "HTTP_503" };
    expect(await tenant.deliveries(hook)).toEqual([
      {
        ...about,
        attempt: 3,
        status: "delivered",
        httpStatus: 200,
        error: null,
        createdAt: moment(90),
      },
      { ...failure, attempt: 2, createdAt: moment(30) },
      { ...failure, attempt: 1, createdAt: moment(0) },
    ]);
    expect(await jobs()).toEqual([]);
  });

  verifies("WH-12", "C-33");
  it("end after five attempts, 30, 60, 120 and 300 seconds apart", async () => {
    const hook = await tenant.hook(url());
    receiver.answering(status(500));
    await tenant.finish("s-1");
    await work();
    for (const [index, seconds] of [30, 60, 120, 300].entries()) {
      at.clock.advance(seconds * SECOND - 1);
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
      await work();
      expect(receiver.received).toHaveLength(index + 1);
      at.clock.advance(1);
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
      await work();
      expect(receiver.received).toHaveLength(index + 2);
    }
    at.clock.advance(DAY);
    await work();
    expect(attemptsOf()).toEqual([1, 2, 3, 4, 5]);
    const told = await tenant.deliveries(hook);
    expect(told.map(({ status }) => status)).toEqual([
      "abandoned",
      "failed",
      "failed",
      "failed",
      "failed",
    ]);
    expect([await left(), await jobs()]).toEqual([[], []]);
  });
});
