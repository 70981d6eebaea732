import { beforeAll, expect, it } from "vitest";
import { DAY, HOUR, formatTimestamp, MINUTE } from "../../src/kit/clock.ts";
import { everyPayment, EXPORTS, exportingTenant, runsOf, SCHEDULES } from "../support/exports.ts";
import { type Caller, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const FIELDS = [
  "id",
  "tenantId",
  "scheduleName",
  "intervalMs",
  "source",
  "fields",
  "filters",
  "nextRunAt",
  "createdAt",
  "updatedAt",
];

onEveryStore("schedules", (at) => {
  let call: Caller;
  let stranger: Caller;
  const create = (body: object, who: Caller = call) =>
    who("POST", SCHEDULES, { body: { intervalMs: HOUR, ...everyPayment, ...body } });
  const refusal = async (body: object): Promise<string> => {
    const { status, body: answer } = await create(body);
    expect([status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
    return answer.error.message;
  };

  beforeAll(async () => {
    call = await exportingTenant(at(), "plan", 5);
    stranger = await exportingTenant(at(), "plan-other", 5);
  });

  verifies("SC-01", "SC-04", "SC-05");
  it("returns 201 and the whole schedule, due in one interval", async () => {
    const { status, body } = await create({ fields: undefined });
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(FIELDS);
    const now = at().clock();
    expect(body).toMatchObject({
      tenantId: "plan",
      scheduleName: null,
      intervalMs: HOUR,
      source: "cashapp",
      fields: [],
      filters: everyPayment.filters,
      nextRunAt: formatTimestamp(now + HOUR),
      createdAt: formatTimestamp(now),
      updatedAt: formatTimestamp(now),
    });
    const firstRunAt = formatTimestamp(now + 5 * MINUTE);
    const named = (await create({ scheduleName: "Nightly", firstRunAt })).body;
    expect(named).toMatchObject({
      scheduleName: "Nightly",
      nextRunAt: firstRunAt,
      fields: everyPayment.fields,
    });
  });

  verifies("SC-02", "D-SCH-1");
  it("requires an interval from five minutes to a year", async () => {
    for (const [intervalMs, status] of [
      [299_999, 400],
      [300_000, 201],
      [31_536_000_000, 201],
      [31_536_000_001, 400],
      [300_000.5, 400],
      ["300000", 400],
      [null, 400],
      [undefined, 400],
    ] as const) {
      expect([intervalMs, (await create({ intervalMs })).status]).toEqual([intervalMs, status]);
    }
  });

  verifies("SC-03", "SC-06");
  it("requires filters, and validates them", async () => {
    expect(await refusal({ filters: undefined })).toContain("filters");
    expect(await refusal({ filters: {} })).toContain("at least one condition");
    expect(await refusal({ filters: { currencyCod: { eq: "EUR" } } })).toContain("currencyCode");
    expect(await refusal({ filters: { currencyCode: "EUR" } })).toContain('{"eq": "EUR"}');
    expect(await refusal({ filters: { paymentDate: { near: "2026-01-01" } } })).toContain("near");
    expect(await refusal({ fields: ["nothing"] })).toContain("fields[0]");
    expect(await refusal({ source: "cash" })).toContain("cashapp");
    expect(await refusal({ filter: everyPayment.filters })).toContain("filter");
    const all = await refusal({ intervalMs: 1, source: "cashapp", filters: { x: { eq: 1 } } });
    expect(all).toContain("intervalMs");
    expect(all).toContain("filters.x");
  });

  verifies("D-SCH-1");
  it("refuses a first run in the past or the far future", async () => {
    const now = at().clock();
    for (const [moment, status] of [
      [now, 201],
      [now - MINUTE, 201],
      [now - MINUTE - 1, 400],
      [now + 365 * DAY, 201],
      [now + 367 * DAY, 400],
    ] as const) {
      const firstRunAt = formatTimestamp(moment).replace("Z", "+00:00");
      expect([moment - now, (await create({ firstRunAt })).status]).toEqual([moment - now, status]);
    }
    for (const firstRunAt of ["tomorrow", "2026-12-01", 5]) {
      expect(await refusal({ firstRunAt })).toContain("firstRunAt");
    }
  });

  verifies("SC-07", "SC-08", "SC-14");
  it("lists, deletes and shows only schedules of the own tenant", async () => {
    const { id } = (await create({ scheduleName: "mine" })).body;
    const ids = async (who: Caller) =>
      (await who("GET", SCHEDULES)).body.data.map((one: { id: string }) => one.id);
    expect(await ids(call)).toContain(id);
    expect(await ids(stranger)).toEqual([]);
    const path = `${SCHEDULES}/${id}`;
    const status = `${EXPORTS}/export-runs/${id}/status`;
    expect((await stranger("GET", status)).status).toBe(404);
    expect((await stranger("DELETE", path)).status).toBe(404);
    expect((await call("GET", status)).body).toEqual({
      schedule: { id, nextRunAt: formatTimestamp(at().clock() + HOUR), deleted: false },
      data: [],
      pagination: { cursor: null, hasMore: false, rowCount: 0 },
    });
    const gone = await call("DELETE", path);
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect(await ids(call)).not.toContain(id);
    const again = await call("DELETE", path);
    expect([again.status, again.body.error.code]).toEqual([404, "NOT_FOUND"]);
    expect((await call("GET", status)).body.schedule).toEqual({
      id,
      nextRunAt: null,
      deleted: true,
    });
  });

  verifies("SC-09");
  it("starts no run of a deleted schedule; past runs can still be read", async () => {
    const { id } = (await create({ firstRunAt: formatTimestamp(at().clock()) })).body;
    await at().platform.worker.runDue();
    const [run] = await runsOf(call, id);
    expect(run, JSON.stringify(run)).toMatchObject({ status: "completed", rowCount: 5 });
    await call("DELETE", `${SCHEDULES}/${id}`);
    at().clock.advance(3 * HOUR);
    await at().platform.worker.runDue();
    expect(await runsOf(call, id)).toEqual([run]);
    const { status, body } = await call("GET", `${EXPORTS}/export-runs/${id}/data`);
    expect([status, body.data.length]).toEqual([200, 5]);
  });

  verifies("D-SCH-1");
  it("allows a hundred schedules per tenant, also for concurrent creations", async () => {
    const many = await exportingTenant(at(), "plan-many", 0);
    const made = await Promise.all(
      Array.from({ length: 103 }, async () => (await create({}, many)).status),
    );
    expect(made.filter((status) => status === 201)).toHaveLength(100);
    expect(made.filter((status) => status === 409)).toHaveLength(3);
    const { data } = (await many("GET", SCHEDULES)).body;
    await many("DELETE", `${SCHEDULES}/${data[0].id}`);
    expect((await create({}, many)).status).toBe(201);
  });

  verifies("AU-02", "AU-04", "D-AUD-2");
  it("records every call in the audit log with its schedule, run and status", async () => {
    const { id } = (await create({ firstRunAt: formatTimestamp(at().clock()) })).body;
    await at().platform.worker.runDue();
    const [run] = await runsOf(call, id);
    await call("GET", `${EXPORTS}/export-runs/${id}/data`);
    await call("GET", SCHEDULES);
    await call("DELETE", `${SCHEDULES}/${id}`);
    await create({ intervalMs: 1 });
    const { data } = (await call("GET", `${EXPORTS}/audit-logs?limit=6`)).body;
    const told = data.map(({ action, endpoint, statusCode, metadata }: Record<string, unknown>) => [
      action,
      endpoint,
      statusCode,
      { ...(metadata as object), actor: undefined },
    ]);
    expect(told).toHaveLength(6);
    const own = { scheduleId: id, resourceId: id };
    expect(told).toEqual(
      expect.arrayContaining([
        ["schedule.created", "/schedules", 201, { ...own, source: "cashapp" }],
        ["schedule.created", "/schedules", 400, { source: "cashapp" }],
        ["schedule.listed", "/schedules", 200, { rowCount: expect.any(Number) }],
        ["schedule.deleted", "/schedules/{id}", 204, own],
        ["export.status_read", "/export-runs/{scheduleId}/status", 200, { ...own, rowCount: 1 }],
        [
          "export.data_read",
          "/export-runs/{scheduleId}/data",
          200,
          { ...own, runId: run?.runId, status: "completed", rowCount: 5 },
        ],
      ]),
    );
    const found = (await call("GET", `${EXPORTS}/audit-logs?scheduleId=${id}`)).body.data;
    expect(found).toHaveLength(4);
    expect((await call("GET", `${EXPORTS}/audit-logs?q=${run?.runId}`)).body.data).toHaveLength(1);
  });
});
