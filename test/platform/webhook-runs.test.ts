import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAY, HOUR, formatTimestamp } from "../../src/kit/clock.ts";
import { WEBHOOKS_PATH } from "../support/export-records.ts";
import { everyPayment, EXPORTS, exportingTenant, runsOf, SCHEDULES } from "../support/exports.ts";
import { LOCAL_HOOKS } from "../support/hooked.ts";
import { type Caller, RETENTION, startPlatform, type TestPlatform } from "../support/platform.ts";
import { type Receiver, startReceiver, status } from "../support/receiver.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

describe.each(dialects)("webhooks of scheduled runs ($name)", (dialect) => {
  let at: TestPlatform;
  let receiver: Receiver;
  let tenants = 0;
  let call: Caller;

  beforeAll(async () => {
    at = await startPlatform(dialect, { webhooks: LOCAL_HOOKS });
  });
  afterAll(() => at.close());
  beforeEach(async () => {
    receiver = await startReceiver();
    tenants += 1;
    call = await exportingTenant(at, `scheduling-${tenants}`, 3);
  });
  afterEach(() => receiver.close());

  const made = async (path: string, body: object): Promise<string> => {
    const reply = await call("POST", path, { body });
    expect(reply.status, reply.text).toBe(201);
    return reply.body.id;
  };
  const schedule = () =>
    made(SCHEDULES, { ...everyPayment, firstRunAt: formatTimestamp(at.clock()), intervalMs: HOUR });
  const hook = (path: string, more: object = {}) =>
    made(WEBHOOKS_PATH, { callbackUrl: `http://127.0.0.1:${receiver.port}${path}`, ...more });
  const work = () => at.platform.worker.runDue();
  const told = () =>
    receiver.received.map(({ path, body }) => ({ path, ...JSON.parse(body.toString("utf8")) }));

  verifies("WH-16");
  it("announce the run that can be fetched, with the same status", async () => {
    const scheduleId = await schedule();
    await hook("/in");
    await work();
    const [announced] = told();
    const [run] = await runsOf(call, scheduleId);
    expect(announced).toMatchObject({ event: "export.completed", scheduleId, payload: run });
    const { runId } = announced.payload;
    at.clock.advance(HOUR);
    await work();
    const data = await call("GET", `${EXPORTS}/export-runs/${scheduleId}/data?runId=${runId}`);
    expect(data.body).toMatchObject({ runId, scheduleId, status: "completed" });
    expect(data.body.data).toHaveLength(3);
    expect(told().map(({ payload }) => payload.runId)).toHaveLength(2);
  });

  verifies("WH-05", "WH-06");
  it("are sent for the webhook's schedule, or for all schedules", async () => {
    const [first, second] = [await schedule(), await schedule()];
    await hook("/first", { scheduleId: first });
    await hook("/all");
    await work();
    const heard = (path: string) =>
      told()
        .filter((one) => one.path === path)
        .map(({ scheduleId }) => scheduleId);
    expect(heard("/first")).toEqual([first]);
    expect(heard("/all").toSorted()).toEqual([first, second].toSorted());
    const list = (await call("GET", WEBHOOKS_PATH)).body.data;
    expect(list.map(({ scheduleId }: { scheduleId?: string }) => scheduleId)).toEqual([
      first,
      undefined,
    ]);
  });

  verifies("D-WH-1");
  it("cannot be registered for a deleted schedule, or another tenant's", async () => {
    const own = await schedule();
    const stranger = await exportingTenant(at, `stranger-${tenants}`, 1);
    const body = { callbackUrl: `http://127.0.0.1:${receiver.port}/`, scheduleId: own };
    expect((await stranger("POST", WEBHOOKS_PATH, { body })).status).toBe(400);
    await call("DELETE", `${SCHEDULES}/${own}`);
    expect((await call("POST", WEBHOOKS_PATH, { body })).status).toBe(400);
  });

  it("are in the audit log with schedule and webhook", async () => {
    const scheduleId = await schedule();
    const webhookId = await hook("/in", { scheduleId });
    const log = await call("GET", `${EXPORTS}/audit-logs?action=webhook.created`);
    expect(log.body.data).toMatchObject([{ metadata: { scheduleId, webhookId } }]);
  });

  it("are stored as long as the audit log", async () => {
    await schedule();
    const id = await hook("/in");
    receiver.answering(status(204));
    await work();
    const attempts = async () =>
      (await call("GET", `${WEBHOOKS_PATH}/${id}/deliveries`)).body.data.length;
    at.clock.advance(RETENTION.auditLogs);
    await at.platform.purge();
    expect(await attempts()).toBe(1);
    at.clock.advance(DAY);
    expect((await at.platform.purge()).webhookAttempts).toBeGreaterThanOrEqual(1);
    expect(await attempts()).toBe(0);
  });
});
