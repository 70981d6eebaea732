import type { Service } from "../contract/operation.ts";
import type { Transport, WireReply } from "./port.ts";

type Send = Transport["send"];

const saysSo = ({ status, body }: WireReply): boolean => {
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

/** Whether a service has shown that it honours Idempotency-Key, so that a creating POST may be repeated. */
export const createKeysHonoured = (send: Send) => {
  const known = new Set<Service>();
  return {
    has: (service: Service): boolean => known.has(service),
    /** A replayed answer shows it. */
    note(service: Service, { headers }: WireReply): void {
      if (headers["idempotency-replayed"] === "true") known.add(service);
    },
    /** Asks the service's health where nothing has shown it yet. */
    async ask(service: Service, signal: AbortSignal): Promise<boolean> {
      if (known.has(service)) return true;
      const headers = { accept: "application/json" };
      const request = { service, method: "GET", target: "/health", headers, body: null, signal };
      const answer = await send(request).catch(() => undefined);
      if (answer !== undefined && saysSo(answer)) known.add(service);
      return known.has(service);
    },
  };
};
