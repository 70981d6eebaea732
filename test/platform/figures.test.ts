import { expect, it } from "vitest";
import { hooked } from "../support/hooked.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

verifies("OP-31");
onEveryStore("figures of the platform", (at) => {
  it("count jobs and deliveries by state, with the age of the oldest", async () => {
    const hooks = await hooked(at());
    await hooks.hook("https://receiver.example/hook");
    await hooks.finish("schedule-1");
    at().clock.advance(5000);
    await hooks.finish("schedule-2");
    const { jobs, deliveries } = await at().platform.figures();
    expect(deliveries).toEqual([
      { state: "new", count: 2, oldestMs: 5000 },
      { state: "retrying", count: 0, oldestMs: 0 },
    ]);
    expect(jobs.filter(({ kind }) => kind === "webhook-delivery")).toEqual([
      { kind: "webhook-delivery", state: "running", count: 0, oldestMs: 0 },
      { kind: "webhook-delivery", state: "due", count: 2, oldestMs: 5000 },
      { kind: "webhook-delivery", state: "scheduled", count: 0, oldestMs: 0 },
    ]);
  });

  it("count the views of the store in use", async () => {
    const views = async () =>
      (await at().platform.figures()).pools.find(({ pool }) => pool === "views");
    const before = await views();
    const view = await at().store.snapshot({ owner: "figures" });
    expect(await views()).toMatchObject({ busy: 1, free: (before?.free ?? 0) - 1, waiting: 0 });
    await view.close();
    expect(await views()).toEqual(before);
  });
});
