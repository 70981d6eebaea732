import { AsyncLocalStorage } from "node:async_hooks";
import { type AdapterPayload, errors } from "oidc-provider";
import { type Clock, SECOND } from "../kit/clock.ts";
import type { Seal } from "../kit/seal.ts";

/** Proxies accept request lines of 8 KiB; the rest of the address comes before. */
const MAX_SEALED_CHARACTERS = 7000;

/** A pending authorization request, as its pages' URLs contain it. */
type Interaction = { uid: string; browser: string; payload: AdapterPayload };

/** The pending authorization request of the current HTTP request. */
type Slot = {
  browser: string;
  isNew: boolean;
  uid?: string;
  payload?: AdapterPayload | undefined;
};

const isInteraction = (value: unknown): value is Interaction =>
  typeof value === "object" && value !== null && "uid" in value && "payload" in value;

/**
 * Creates the storage of authorization requests between their first page and the response to the client. They are
 * sealed in the pages' URLs and bound to a cookie of the browser, so that nothing is stored for a person who has not
 * signed in.
 */
export const createInteractions = (seal: Seal, now: Clock) => {
  const slots = new AsyncLocalStorage<Slot>();
  return {
    /** Opens a sealed interaction; undefined if it has expired or started in another browser. */
    open(sealed: string, browser: string | undefined): Interaction | undefined {
      const opened = seal.open(sealed);
      if (!isInteraction(opened) || opened.browser !== browser) return undefined;
      return (opened.payload.exp ?? 0) * SECOND > now() ? opened : undefined;
    },
    /** Handles one HTTP request of a browser. The other functions then work on its interaction. */
    run<T>(browser: string, interaction: Interaction | undefined, act: () => T): T {
      const { uid, payload } = interaction ?? {};
      const slot: Slot = { browser, isNew: false, ...(uid === undefined ? {} : { uid, payload }) };
      return slots.run(slot, act);
    },
    find(uid: string): AdapterPayload | undefined {
      const slot = slots.getStore();
      return slot?.uid === uid ? slot.payload : undefined;
    },
    write(uid: string, payload: AdapterPayload): void {
      const slot = slots.getStore();
      if (slot === undefined) throw new Error("An interaction was written outside of a request.");
      Object.assign(slot, { uid, payload, isNew: true });
    },
    remove(uid: string): void {
      const slot = slots.getStore();
      if (slot?.uid === uid) slot.payload = undefined;
    },
    /** Seals the current interaction as the last segment of its pages' paths. */
    seal(): string {
      const { uid, payload, browser } = slots.getStore() ?? {};
      const sealed = seal.seal({ uid, browser, payload });
      if (sealed.length > MAX_SEALED_CHARACTERS) {
        throw new errors.InvalidRequest("the authorization request is too long");
      }
      return sealed;
    },
    /** Returns the id of the browser that started an interaction in this HTTP request, for its cookie. */
    newBrowser(): string | undefined {
      const slot = slots.getStore();
      return slot?.isNew === true ? slot.browser : undefined;
    },
  };
};

export type Interactions = ReturnType<typeof createInteractions>;
