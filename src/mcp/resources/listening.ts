import { errorFields, type Log } from "../../kit/log.ts";
import type { RequestAuth } from "../caller.ts";
import { subscribe, type Subscribing } from "./subscriptions.ts";
import type { Watching } from "./watches.ts";

/** The addresses that a host of 2026 wants to hear of, in the parameters of its request to listen. */
export const addressesIn = (params: unknown): string[] => {
  const { notifications } = (params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown };
  };
  const uris = notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? [...new Set(uris.filter((uri) => typeof uri === "string"))] : [];
};

/** What is watched for one request to listen. */
export type ResourceListener = {
  /** Resolves once it is known what had ended before; what cannot be read now is watched all the same. */
  begun: Promise<void>;
  end(): void;
};

/** Watches several addresses; a host of 2026 is refused none of them, it only never hears of some. */
export const listenTo = (
  { log, ...subscribing }: Subscribing & { log: Log },
  asking: RequestAuth,
  uris: readonly string[],
  told: (uri: string) => void,
): ResourceListener => {
  const open = new Set<Watching>();
  let isOver = false;
  const one = async (uri: string): Promise<void> => {
    const watching = await subscribe(subscribing, asking, uri, () => told(uri));
    if (watching === undefined) return;
    if (isOver) return watching.end();
    open.add(watching);
    await watching.begun;
  };
  const all = async (): Promise<void> => {
    for (const outcome of await Promise.allSettled(uris.map(one))) {
      if (outcome.status === "rejected") log.info("watch.refused", errorFields(outcome.reason));
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
