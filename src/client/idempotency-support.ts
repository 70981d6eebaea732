import type { Service } from "../contract/operation.ts";
import type { Transport, WireReply } from "./port.ts";

type Send = Transport["send"];

const reportsIdempotency = ({ status, body }: WireReply): boolean => {
  if (status !== 200) return false;
  try {
    const health: unknown = JSON.parse(body);
    return (
      typeof health === "object" &&
      health !== null &&
      "idempotency" in health &&
      health.idempotency === true
    );
  } catch {
    return false;
  }
};

/** Records which services support Idempotency-Key, so that a creating POST to them may be retried. */
export const createIdempotencySupport = (send: Send) => {
  const known = new Set<Service>();
  return {
    has: (service: Service): boolean => known.has(service),
    /** Learns from a response: a replayed one proves support. */
    note(service: Service, { headers }: WireReply): void {
      if (headers["idempotency-replayed"] === "true") known.add(service);
    },
    /** Returns whether the service supports it; reads `/health` once while that is unknown. */
    async ask(service: Service, signal: AbortSignal): Promise<boolean> {
      if (known.has(service)) return true;
      const headers = { accept: "application/json" };
      const request = { service, method: "GET", target: "/health", headers, body: null, signal };
      const answer = await send(request).catch(() => undefined);
      if (answer !== undefined && reportsIdempotency(answer)) known.add(service);
      return known.has(service);
    },
  };
};
