import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { toErrorFields, type Log } from "../../kit/log.ts";
import type { RequestAuth } from "../caller.ts";
import { guardErrors } from "../results/protocol-errors.ts";
import { parseRunUri } from "./address.ts";
import {
  cannotSubscribe,
  checkSubscriptions,
  subscribe,
  type SubscriptionContext,
} from "./subscriptions.ts";
import type { Subscription } from "./watches.ts";

/** The subscriptions of sessions, which any node takes and the node with the session's stream serves. */
export type SharedSubscriptions = {
  /** `ended`: the runs that had ended by then. */
  subscribe(session: string, uri: string, ended: readonly string[]): Promise<void>;
  unsubscribe(session: string, uri: string): Promise<void>;
  listSubscriptions(session: string): Promise<{ uri: string; ended: string[] }[]>;
  /** Calls `act` when the session may have ended or its subscriptions may have changed. Call the result to stop. */
  watchSession(session: string, act: () => void): () => void;
};

type Context = SubscriptionContext & { shared: SharedSubscriptions; log: Log };

const sessionOf = ({ sessionId = "" }: ServerContext): string => sessionId;

/** Serves `resources/subscribe` for a session of which this node may not have the stream. */
export const serveSharedSubscriptions = (
  server: Server,
  { shared, log, ...context }: Context,
): void => {
  server.setRequestHandler(
    "resources/subscribe",
    guardErrors(log, "resources/subscribe", async ({ params: { uri } }, request: ServerContext) => {
      const session = sessionOf(request);
      const subscription = await subscribe(context, request, uri, () => {});
      if (subscription === undefined) throw cannotSubscribe(uri);
      try {
        // Checks that the caller may read the resource, too.
        const { ended } = await subscription.begun;
        const known = await shared.listSubscriptions(session);
        checkSubscriptions(
          known.map((one) => one.uri),
          uri,
        );
        await shared.subscribe(session, uri, ended);
      } finally {
        subscription.end();
      }
      return {};
    }),
  );
  server.setRequestHandler(
    "resources/unsubscribe",
    guardErrors(
      log,
      "resources/unsubscribe",
      async ({ params: { uri } }, request: ServerContext) => {
        await shared.unsubscribe(sessionOf(request), uri);
        return {};
      },
    ),
  );
};

/**
 * Watches the subscribed resources of a session as long as this node has its stream. A run that ended between the
 * subscription and this watch is notified too.
 */
export const followSubscriptions = (
  { shared, log, ...context }: Context,
  session: string,
  auth: RequestAuth,
  notify: (uri: string) => void,
): (() => void) => {
  const open = new Map<string, Subscription>();
  let isEnded = false;

  const begin = async (uri: string, before: readonly string[]): Promise<void> => {
    const subscription = await subscribe(context, auth, uri, () => notify(uri));
    if (subscription === undefined) return;
    if (isEnded || open.has(uri)) return subscription.end();
    open.set(uri, subscription);
    const { ended } = await subscription.begun;
    const runId = parseRunUri(uri)?.runId;
    const isNew = (id: string): boolean =>
      !before.includes(id) && (runId === undefined || runId === id);
    if (!isEnded && ended.some(isNew)) notify(uri);
  };

  const update = async (): Promise<void> => {
    const subscribed = await shared.listSubscriptions(session);
    for (const [uri, subscription] of open) {
      if (subscribed.some((one) => one.uri === uri)) continue;
      subscription.end();
      open.delete(uri);
    }
    await Promise.all(
      subscribed.filter(({ uri }) => !open.has(uri)).map(({ uri, ended }) => begin(uri, ended)),
    );
  };

  const look = (): void => {
    if (isEnded) return;
    update().catch((error: unknown) => log.warn("watch.failed", toErrorFields(error)));
  };
  const stop = shared.watchSession(session, look);
  look();
  return () => {
    isEnded = true;
    stop();
    for (const subscription of open.values()) subscription.end();
    open.clear();
  };
};
