import { AsyncLocalStorage } from "node:async_hooks";
import { type AdapterPayload, errors } from "oidc-provider";
import { type Clock, SECOND } from "../kit/clock.ts";
import type { Seal } from "../kit/seal.ts";

/** Node takes 16 KiB of request line and headers. */
const MAX_PART_CHARACTERS = 12_000;

/** An authorization request under way, as the last part of its pages' addresses holds it. */
type Sealed = { uid: string; browser: string; payload: AdapterPayload };

/** The authorization request that one HTTP request is about. */
type Slot = { browser: string; begun: boolean; uid?: string; payload?: AdapterPayload | undefined };

const isSealed = (value: unknown): value is Sealed =>
  typeof value === "object" && value !== null && "uid" in value && "payload" in value;

/**
 * Authorization requests between their first page and the answer to the client. They are sealed in the addresses of the
 * pages and bound to a cookie of the browser, so that nothing is stored for a person who has not signed in.
 */
export const createInteractions = (seal: Seal, now: Clock) => {
  const slots = new AsyncLocalStorage<Slot>();

  const payloadOf = (uid: string): AdapterPayload | undefined => {
    const slot = slots.getStore();
    return slot?.uid === uid ? slot.payload : undefined;
  };

  return {
    /** Opens an address's last part; undefined for a request that has ended or began in another browser. */
    open(part: string, browser: string | undefined): Sealed | undefined {
      const opened = seal.open(part);
      if (!isSealed(opened) || opened.browser !== browser) return undefined;
      return (opened.payload.exp ?? 0) * SECOND > now() ? opened : undefined;
    },
    /** Runs one HTTP request of a browser, about the authorization request that its address holds if there is one. */
    run<T>(browser: string, opened: Sealed | undefined, act: () => T): T {
      const { uid, payload } = opened ?? {};
      const slot: Slot = { browser, begun: false, ...(uid === undefined ? {} : { uid, payload }) };
      return slots.run(slot, act);
    },
    find: payloadOf,
    write(uid: string, payload: AdapterPayload): void {
      const slot = slots.getStore();
      if (slot === undefined)
        throw new Error("an authorization request was written outside of a request");
      Object.assign(slot, { uid, payload, begun: true });
    },
    remove(uid: string): void {
      const slot = slots.getStore();
      if (slot?.uid === uid) slot.payload = undefined;
    },
    /** Returns the last part of the addresses of the authorization request's pages. */
    part(): string {
      const { uid, payload, browser } = slots.getStore() ?? {};
      const part = seal.seal({ uid, browser, payload });
      if (part.length > MAX_PART_CHARACTERS) {
        throw new errors.InvalidRequest("the authorization request is too long");
      }
      return part;
    },
    /** Returns the browser that began an authorization request in this HTTP request, to be told in a cookie. */
    begunBy(): string | undefined {
      const slot = slots.getStore();
      return slot?.begun === true ? slot.browser : undefined;
    },
  };
};

export type Interactions = ReturnType<typeof createInteractions>;
