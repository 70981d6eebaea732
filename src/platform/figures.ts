import type { Clock } from "../kit/clock.ts";
import { countJobs, JOB_STATES } from "./store/queries/jobs.ts";
import type { PoolUse, Store } from "./store/port.ts";
import { countDeliveries, DELIVERY_STATES } from "./store/queries/webhook-deliveries.ts";

/** Work in one state: how much, and the age of the oldest in milliseconds. */
type Work = { state: string; count: number; oldestMs: number };

/** Pending work in the store, over all nodes, and the use of this node's pools. */
export type Figures = {
  jobs: (Work & { kind: string })[];
  deliveries: Work[];
  pools: PoolUse[];
};

type Counted = { count: number; oldest: number } | undefined;

const toWork = (state: string, found: Counted, now: number): Work => ({
  state,
  count: found?.count ?? 0,
  oldestMs: found === undefined ? 0 : Math.max(0, now - found.oldest),
});

/** Creates the function that counts; states without work are part of the answer. */
export const createFigures =
  ({ store, clock, kinds }: { store: Store; clock: Clock; kinds: readonly string[] }) =>
  async (): Promise<Figures> => {
    const now = clock();
    const [jobs, deliveries] = await Promise.all([
      countJobs(store.read, now),
      countDeliveries(store.read),
    ]);
    return {
      jobs: kinds.flatMap((kind) =>
        JOB_STATES.map((state) => {
          const found = jobs.find((one) => one.kind === kind && one.state === state);
          return { kind, ...toWork(state, found, now) };
        }),
      ),
      deliveries: DELIVERY_STATES.map((state) => {
        const found = deliveries.find((one) => one.state === state);
        return toWork(state, found, now);
      }),
      pools: store.pools(),
    };
  };
