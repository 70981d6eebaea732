import { toErrorFields, type Log } from "../../kit/log.ts";
import type { RequestAuth } from "../caller.ts";
import { subscribe, type SubscriptionContext } from "./subscriptions.ts";
import type { Subscription } from "./watches.ts";

/** Returns the URIs in the parameters of a `subscriptions/listen` request. */
export const parseListenUris = (params: unknown): string[] => {
  const { notifications } = (params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown };
  };
  const uris = notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? [...new Set(uris.filter((uri) => typeof uri === "string"))] : [];
};

/** The watches of one `subscriptions/listen` request. */
export type ResourceListener = {
  /** Resolves after the first poll of each watch; a failed poll is logged and the watch goes on. */
  begun: Promise<void>;
  end(): void;
};

/** Watches several resources. Resources that do not change by themselves are accepted and cause no notification. */
export const watchResources = (
  { log, ...subscribing }: SubscriptionContext & { log: Log },
  asking: RequestAuth,
  uris: readonly string[],
  notify: (uri: string) => void,
): ResourceListener => {
  const open = new Set<Subscription>();
  let isOver = false;
  const one = async (uri: string): Promise<void> => {
    const watching = await subscribe(subscribing, asking, uri, () => notify(uri));
    if (watching === undefined) return;
    if (isOver) return watching.end();
    open.add(watching);
    await watching.begun;
  };
  const all = async (): Promise<void> => {
    for (const outcome of await Promise.allSettled(uris.map(one))) {
      if (outcome.status === "rejected") log.info("watch.refused", toErrorFields(outcome.reason));
    }
  };
  return {
    begun: all(),
    end() {
      isOver = true;
      for (const watching of open) watching.end();
      open.clear();
    },
  };
};
