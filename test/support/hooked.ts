import { randomId } from "../../src/kit/ids.ts";
import { createNetworks } from "../../src/kit/network.ts";
import { createTenant } from "../../src/platform/admin/tenants.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { addRunEvent, type RunEvent, type RunPayload } from "../../src/platform/webhooks/events.ts";
import { WEBHOOKS_PATH } from "./export-records.ts";
import { type Caller, type TestPlatform, WEBHOOKS } from "./platform.ts";

/** The payload of a run that has just finished. */
export const runOf = (scheduleId: string, more: Partial<RunPayload> = {}): RunPayload => ({
  runId: randomId(),
  scheduleId,
  status: "completed",
  startedAt: "2026-03-02T08:59:58.000Z",
  completedAt: "2026-03-02T09:00:00.000Z",
  rowCount: 3,
  errorStage: null,
  errorDetail: null,
  ...more,
});

/** Resolves every name to this machine and allows unencrypted callbacks to it. */
export const LOCAL_HOOKS: typeof WEBHOOKS = {
  ...WEBHOOKS,
  hosts: { resolve: async () => ["127.0.0.1"], allowed: createNetworks(["127.0.0.0/8"]) },
};

export type Hook = { id: string; secret: string };

export type Hooked = {
  call: Caller;
  hook(callbackUrl: string): Promise<Hook>;
  /** Within the transaction that ends a run. */
  tell(tx: Db, payload: RunPayload): Promise<void>;
  /** Ends a run of the schedule, as far as webhooks can tell. */
  finish(scheduleId: string, more?: Partial<RunPayload>): Promise<RunPayload>;
  deliveries(hook: Pick<Hook, "id">): Promise<Record<string, unknown>[]>;
};

const eventOf = ({ status }: RunPayload): RunEvent["event"] =>
  status === "completed" ? "export.completed" : "export.failed";

/** A new tenant with a webhook for all runs. */
export const hooked = async (at: TestPlatform): Promise<Hooked> => {
  const tenantId = `hooked-${randomId()}`;
  await createTenant({ ...at, newId: randomId }, { tenantId, name: "Hooked" });
  const call = await at.exportCaller(tenantId, ["export:read", "export:manage"]);
  const tell = (tx: Db, payload: RunPayload): Promise<void> =>
    addRunEvent(
      tx,
      { newId: randomId },
      { tenantId, event: eventOf(payload), payload, at: at.clock() },
    );
  return {
    call,
    async hook(callbackUrl) {
      const made = await call("POST", WEBHOOKS_PATH, { body: { callbackUrl } });
      if (made.status !== 201) throw new Error(made.text);
      return made.body;
    },
    tell,
    async finish(scheduleId, more) {
      const payload = runOf(scheduleId, more);
      await at.store.transaction((tx) => tell(tx, payload));
      return payload;
    },
    deliveries: async ({ id }) =>
      (await call("GET", `${WEBHOOKS_PATH}/${id}/deliveries`)).body.data,
  };
};
