import { AsyncLocalStorage } from "node:async_hooks";

const addresses = new AsyncLocalStorage<string>();

/**
 * Runs `act` on behalf of a client at this address. Calls to a platform that `act` makes carry it, so that limits
 * count the client and not this process. No header of a request can set it.
 */
export const withClientAddress = <T>(address: string, act: () => T): T =>
  addresses.run(address, act);

/** Returns the address of the client on whose behalf this code runs; undefined where it runs for this process. */
export const getClientAddress = (): string | undefined => addresses.getStore();
