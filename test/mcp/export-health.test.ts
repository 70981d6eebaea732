import { expect, it } from "vitest";
import { answerIn } from "./insight-host.ts";
import { connectModern, createOptions, NOW } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

const schedule = (id: string, more: object = {}) => ({
  id,
  scheduleName: `Schedule ${id}`,
  source: "cashapp",
  intervalMs: 3_600_000,
  nextRunAt: at(30),
  ...more,
});

const run = (status: string, more: object = {}) => ({
  runId: "r-1",
  scheduleId: "s",
  status,
  startedAt: at(-30),
  completedAt: at(-29),
  rowCount: 7,
  errorStage: null,
  errorDetail: null,
  ...more,
});

const attempt = (scheduleId: string, status: string, minutes: number) => ({
  webhookId: "w-1",
  scheduleId,
  event: "export.completed",
  attempt: 1,
  status,
  httpStatus: status === "delivered" ? 200 : 500,
  error: status === "delivered" ? null : "HTTP_500",
  createdAt: at(minutes),
});

const RUNS: Record<string, object[]> = {
  good: [run("completed"), run("failed")],
  broken: [run("failed", { errorStage: "validation", errorDetail: "unknown field" })],
  late: [run("completed")],
  unsent: [run("completed")],
  retried: [run("completed")],
  fresh: [],
};

const broker = () =>
  scriptBroker({
    "schedules.list": () => ({
      data: Object.keys(RUNS).map((id) =>
        schedule(id, id === "late" ? { nextRunAt: at(-180) } : {}),
      ),
    }),
    "export_runs.status": ({ scheduleId }) => ({ data: RUNS[String(scheduleId)], pagination: {} }),
    "webhooks.list": () => ({ data: [{ id: "w-1" }] }),
    "webhooks.list_deliveries": () => ({
      data: [
        attempt("unsent", "abandoned", -20),
        attempt("retried", "failed", -1),
        attempt("good", "delivered", -25),
        attempt("good", "abandoned", -90),
      ],
    }),
  });

verifies("IN-42");
it("lists schedules with their last run, those that need attention first", async () => {
  const host = await connectModern(await createOptions(broker()));
  const answer = answerIn(await host.call("export_health", {}));
  await host.close();
  expect(answer).toMatchObject({
    rowCount: 6,
    failing: 1,
    overdue: 1,
    undelivered: 1,
    webhooks: 1,
  });
  expect(answer.items.map(({ scheduleId, finding }) => [scheduleId, finding])).toEqual([
    ["broken", "failing"],
    ["late", "overdue"],
    ["unsent", "undelivered"],
    ["fresh", "waiting"],
    ["good", "healthy"],
    ["retried", "healthy"],
  ]);
  const [broken, , unsent] = answer.items;
  expect(broken).toMatchObject({
    lastRun: { status: "failed", errorStage: "validation", errorDetail: "unknown field" },
    failedRuns: 1,
  });
  expect(String(broken?.["nextStep"])).toContain("payments_query");
  expect(unsent).toMatchObject({
    stalledDeliveries: [{ webhookId: "w-1", status: "abandoned", httpStatus: 500 }],
  });
});
