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
  { log, ...context }: SubscriptionContext & { log: Log },
  auth: RequestAuth,
  uris: readonly string[],
  notify: (uri: string) => void,
): ResourceListener => {
  const open = new Set<Subscription>();
  let isEnded = false;
  const watch = async (uri: string): Promise<void> => {
    const subscription = await subscribe(context, auth, uri, () => notify(uri));
    if (subscription === undefined) return;
    if (isEnded) return subscription.end();
    open.add(subscription);
    await subscription.begun;
  };
  const watchAll = async (): Promise<void> => {
    for (const outcome of await Promise.allSettled(uris.map(watch))) {
      if (outcome.status === "rejected") log.info("watch.refused", toErrorFields(outcome.reason));
    }
  };
  return {
    begun: watchAll(),
    end() {
      isEnded = true;
      for (const subscription of open) subscription.end();
      open.clear();
    },
  };
};
