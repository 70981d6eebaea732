import type { Dice } from "../../support/dice.ts";
import { DAY, HOUR, MINUTE } from "../../../src/kit/clock.ts";
import type { Asked, Tracked } from "../records.ts";

type State = { phase: "none" | "live" | "gone" };

export const EXPORTS = "/api/v1/remittance-export";

export const nothing: State = { phase: "none" };

/** A schedule; its name is known before its id. */
export type TrackedSchedule = Tracked<State> & {
  id?: string;
  /** The times at which it is due. */
  slots?: { firstAt: number; everyMs: number };
};

/** A webhook, with the times of the simulation between which it lived. */
export type TrackedWebhook = Tracked<State> & {
  id?: string;
  secret?: string;
  host: string;
  schedule: TrackedSchedule | undefined;
  /** The answer to its creation had arrived by then. */
  madeBy: number;
  /** The request that creates or deletes it was sent then. */
  askedAt: number;
  /** The requests that delete it were sent then. */
  removals: number[];
};

export const QUERY = {
  source: "cashapp",
  fields: ["id", "payerName"],
  filters: { currencyCode: { eq: "EUR" } },
};

export const createSchedule = (
  dice: Dice,
  schedule: TrackedSchedule,
  now: number,
): Asked<State> => {
  const everyMs = dice.pick([5 * MINUTE, 7 * MINUTE, HOUR, DAY]);
  const firstAt = now + dice.pick([MINUTE, 5 * MINUTE, HOUR]);
  schedule.slots = { firstAt, everyMs };
  return {
    method: "POST",
    path: `${EXPORTS}/schedules`,
    as: "export",
    body: {
      ...QUERY,
      scheduleName: schedule.name,
      intervalMs: everyMs,
      firstRunAt: new Date(firstAt).toISOString(),
    },
    effect: () => ({ status: 201, after: { phase: "live" } }),
    learn(body) {
      schedule.id = body.id;
    },
  };
};

const remove = (path: string): Asked<State> => ({
  method: "DELETE",
  path,
  as: "export",
  effect: (before) =>
    before.phase === "live"
      ? { status: 204, after: { phase: "gone" } }
      : { status: 404, after: before },
});

export const removeSchedule = ({ id = "" }: TrackedSchedule): Asked<State> =>
  remove(`${EXPORTS}/schedules/${id}`);

export const createWebhook = (webhook: TrackedWebhook, isReachable: boolean): Asked<State> => ({
  method: "POST",
  path: `${EXPORTS}/webhooks`,
  as: "export",
  body: {
    callbackUrl: `https://${webhook.host}/${webhook.name}`,
    ...(webhook.schedule?.id === undefined ? {} : { scheduleId: webhook.schedule.id }),
  },
  effect: (before) =>
    isReachable ? { status: 201, after: { phase: "live" } } : { status: 400, after: before },
  learn(body) {
    webhook.id = body.id;
    webhook.secret = body.secret;
  },
});

export const removeWebhook = ({ id = "" }: TrackedWebhook): Asked<State> =>
  remove(`${EXPORTS}/webhooks/${id}`);
