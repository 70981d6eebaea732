import type { Service } from "../contract/operation.ts";
import { untilAbort } from "../kit/abort.ts";
import { type Clock, MINUTE } from "../kit/clock.ts";
import { isRecord, parseIfJson } from "../kit/json.ts";
import type { Transport, WireReply } from "./port.ts";

/** The part of `GET /health` that says what a platform can do beyond the documents. */
export type Health = {
  idempotency: boolean;
  /** Ids of operations. */
  extensions: readonly string[];
};

const NOTHING: Health = { idempotency: false, extensions: [] };
const LIFE_MS = 5 * MINUTE;

const toHealth = ({ status, body }: WireReply): Health => {
  const health = status === 200 ? parseIfJson(body) : undefined;
  if (!isRecord(health)) return NOTHING;
  const { idempotency, extensions } = health;
  return {
    idempotency: idempotency === true,
    extensions: Array.isArray(extensions) ? extensions.filter((id) => typeof id === "string") : [],
  };
};

export type ReadHealth = (service: Service, signal: AbortSignal) => Promise<Health>;

/** Reads `/health` of a service; undefined if the platform does not answer or fails. */
const request = async (
  { send }: Pick<Transport, "send">,
  service: Service,
  signal: AbortSignal,
): Promise<Health | undefined> => {
  const headers = { accept: "application/json" };
  const sent = { service, method: "GET", target: "/health", headers, body: null, signal };
  const reply = await send(sent).catch(() => undefined);
  return reply === undefined || reply.status >= 500 ? undefined : toHealth(reply);
};

/** Reads `/health` of a service with each call. A platform without it supports nothing beyond the documents. */
export const createHealth =
  (transport: Pick<Transport, "send">): ReadHealth =>
  async (service, signal) =>
    (await request(transport, service, signal)) ?? NOTHING;

/**
 * Reads `/health` of a service at most once in 5 minutes; a failed request is not remembered. Callers share a request,
 * which goes on when their signals abort: an answer that comes too late for one call is known to the next.
 */
export const createCachedHealth = (
  transport: Pick<Transport, "send" | "requestMs">,
  now: Clock,
): ReadHealth => {
  const known = new Map<Service, { health: Health; until: number }>();
  const pending = new Map<Service, Promise<Health | undefined>>();
  const ask = async (service: Service): Promise<Health | undefined> => {
    const health = await request(transport, service, AbortSignal.timeout(transport.requestMs));
    pending.delete(service);
    if (health !== undefined) known.set(service, { health, until: now() + LIFE_MS });
    return health;
  };
  return async (service, signal) => {
    const found = known.get(service);
    if (found !== undefined && found.until > now()) return found.health;
    const request = pending.get(service) ?? ask(service);
    pending.set(service, request);
    const health = await untilAbort(request, signal).catch(() => undefined);
    // The former announcement is more likely than none.
    return health ?? found?.health ?? NOTHING;
  };
};

/** Records which services support Idempotency-Key, so that a creating POST to them may be retried. */
export const createIdempotencySupport = (readHealth: ReadHealth) => {
  const known = new Set<Service>();
  return {
    has: (service: Service): boolean => known.has(service),
    /** Learns from a response: a replayed one proves support. */
    note(service: Service, { headers }: WireReply): void {
      if (headers["idempotency-replayed"] === "true") known.add(service);
    },
    /** Returns whether the service supports it; reads `/health` while that is unknown. */
    async ask(service: Service, signal: AbortSignal): Promise<boolean> {
      if (!known.has(service) && (await readHealth(service, signal)).idempotency) {
        known.add(service);
      }
      return known.has(service);
    },
  };
};
