import { describe, expect, it } from "vitest";
import { DAY, SECOND } from "../../src/kit/clock.ts";
import { hooked, runOf } from "../support/hooked.ts";
import { type Received, status } from "../support/receiver.ts";
import { dialects } from "../support/stores.ts";
import { hmac, setUpWebhooks } from "../support/webhook-platform.ts";
import { verifies } from "../support/verifies.ts";

const bodyOf = ({ body }: Received) => JSON.parse(body.toString("utf8"));

describe.each(dialects)("deliveries ($name)", (dialect) => {
  const { on, url, work, attemptsOf, jobs } = setUpWebhooks(dialect);

  const left = () => on.at.store.read.selectFrom("webhook_deliveries").select("id").execute();

  verifies("WH-07", "WH-08");
  it("announce a completed run with its id, schedule and time", async () => {
    await on.tenant.hook(url("/in?who=us"));
    const run = await on.tenant.finish("s-1");
    on.at.clock.advance(5 * SECOND);
    await work();
    const [request] = on.receiver.received;
    expect(on.receiver.received).toHaveLength(1);
    expect(request?.path).toBe("/in?who=us");
    expect(request && bodyOf(request)).toEqual({
      event: "export.completed",
      scheduleId: "s-1",
      payload: run,
      deliveredAt: new Date(on.at.clock()).toISOString(),
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
    await on.tenant.hook(url());
    const failure = {
      status: "failed",
      errorStage: "query",
      errorDetail: "no “rows”\n\u2028 🧾",
    } as const;
    const run = await on.tenant.finish("s-1", failure);
    await work();
    expect(on.receiver.received.map(bodyOf)).toMatchObject([
      { event: "export.failed", payload: run },
    ]);
  });

  verifies("WH-09", "C-31", "C-32");
  it("are signed with the HMAC of their bytes under the secret, which no log has", async () => {
    const { secret } = await on.tenant.hook(url());
    await on.tenant.finish("s-1", { errorDetail: "Zoë \\u00e9 \u0007 </script> 🧾" });
    await work();
    const [request] = on.receiver.received;
    if (request === undefined) throw new Error("nothing was sent");
    expect(request.headers["x-webhook-signature"]).toBe(`sha256=${hmac(secret, request.body)}`);
    expect(hmac(secret, Buffer.concat([request.body, Buffer.from(" ")]))).not.toBe(
      hmac(secret, request.body),
    );
    const lines = on.at.lines.join("");
    expect(lines).toContain('"webhook.delivered"');
    expect(lines).not.toContain(secret);
  });

  verifies("WH-06");
  it("go to the subscribed webhooks of the run's tenant only", async () => {
    const all = await on.tenant.hook(url("/all"));
    const one = await on.tenant.hook(url("/one"));
    const other = await on.tenant.hook(url("/other"));
    const bind = (id: string, schedule_id: string) =>
      on.at.store.transaction((tx) =>
        tx.updateTable("webhooks").set({ schedule_id }).where("id", "=", id).execute(),
      );
    await bind(one.id, "s-1");
    await bind(other.id, "s-2");
    const stranger = await hooked(on.at);
    await stranger.hook(url("/stranger"));
    await on.tenant.finish("s-1");
    await work();
    expect(on.receiver.received.map(({ path }) => path).toSorted()).toEqual(["/all", "/one"]);
    expect(await on.tenant.deliveries(all)).toHaveLength(1);
    expect(await on.tenant.deliveries(other)).toEqual([]);
  });

  it("are added in the transaction that ends the run", async () => {
    await on.tenant.hook(url());
    const undone = on.at.store.transaction(async (tx) => {
      await on.tenant.tell(tx, runOf("s-1"));
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    await work();
    expect([on.receiver.received, await left(), await jobs()]).toEqual([[], [], []]);
  });

  verifies("WH-13", "WH-17", "D-WH-2");
  it("are repeated under the same id with a new signature until they are delivered", async () => {
    const hook = await on.tenant.hook(url());
    on.receiver.answering((answer, { headers }) =>
      answer.writeHead(headers["x-webhook-attempt"] === "3" ? 200 : 503).end(),
    );
    await on.tenant.finish("s-1");
    const started = on.at.clock();
    for (const seconds of [0, 30, 60, 120, 300]) {
      on.at.clock.advance(seconds * SECOND);
      await work();
    }
    expect(attemptsOf()).toEqual([1, 2, 3]);
    expect(new Set(on.receiver.received.map(({ headers }) => headers["x-webhook-id"])).size).toBe(
      1,
    );
    const moment = (seconds: number) => new Date(started + seconds * SECOND).toISOString();
    expect(on.receiver.received.map((one) => bodyOf(one).deliveredAt)).toEqual([
      moment(0),
      moment(30),
      moment(90),
    ]);
    for (const { headers, body } of on.receiver.received) {
      expect(headers["x-webhook-signature"]).toBe(`sha256=${hmac(hook.secret, body)}`);
    }
    const about = { webhookId: hook.id, scheduleId: "s-1", event: "export.completed" };
    const failure = { ...about, status: "failed", httpStatus: 503, error: "HTTP_503" };
    expect(await on.tenant.deliveries(hook)).toEqual([
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
    const hook = await on.tenant.hook(url());
    on.receiver.answering(status(500));
    await on.tenant.finish("s-1");
    await work();
    for (const [index, seconds] of [30, 60, 120, 300].entries()) {
      on.at.clock.advance(seconds * SECOND - 1);
      await work();
      expect(on.receiver.received).toHaveLength(index + 1);
      on.at.clock.advance(1);
      await work();
      expect(on.receiver.received).toHaveLength(index + 2);
    }
    on.at.clock.advance(DAY);
    await work();
    expect(attemptsOf()).toEqual([1, 2, 3, 4, 5]);
    const told = await on.tenant.deliveries(hook);
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
