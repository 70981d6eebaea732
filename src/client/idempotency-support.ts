import type { Service } from "../contract/operation.ts";
import type { ReadHealth } from "./health.ts";
import type { WireReply } from "./port.ts";

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
