import type { Service } from "../contract/operation.ts";
import { type Clock, MINUTE } from "../kit/clock.ts";
import type { Transport, WireReply } from "./port.ts";

/** The part of `GET /health` that says what a platform can do beyond the documents. */
export type Health = {
  idempotency: boolean;
  /** Ids of operations. */
  extensions: readonly string[];
};

const NOTHING: Health = { idempotency: false, extensions: [] };
const LIFE_MS = 5 * MINUTE;

const parseBody = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

const toHealth = ({ status, body }: WireReply): Health => {
  const health = status === 200 ? parseBody(body) : undefined;
  if (typeof health !== "object" || health === null) return NOTHING;
  const { idempotency, extensions } = health as { idempotency?: unknown; extensions?: unknown };
  return {
    idempotency: idempotency === true,
    extensions: Array.isArray(extensions) ? extensions.filter((id) => typeof id === "string") : [],
  };
};

/**
 * Reads `/health` of a service, at most once in 5 minutes. A platform without it has no extensions;
 * a failed request is not remembered.
 */
export const createHealth = ({ send }: Pick<Transport, "send">, now: Clock) => {
  const known = new Map<Service, { health: Health; until: number }>();
  return async (service: Service, signal: AbortSignal): Promise<Health> => {
    const found = known.get(service);
    if (found !== undefined && found.until > now()) return found.health;
    const headers = { accept: "application/json" };
    const request = { service, method: "GET", target: "/health", headers, body: null, signal };
    const reply = await send(request).catch(() => undefined);
    if (reply === undefined || reply.status >= 500) return NOTHING;
    const health = toHealth(reply);
    known.set(service, { health, until: now() + LIFE_MS });
    return health;
  };
};

export type ReadHealth = ReturnType<typeof createHealth>;
