import { AsyncLocalStorage } from "node:async_hooks";

const ids = new AsyncLocalStorage<string>();

/** Runs `act` as a part of an HTTP request with this id. */
export const withRequestId = <T>(id: string, act: () => T): T => ids.run(id, act);

/** Returns the id of the HTTP request that this code is a part of; undefined outside of any. */
export const getRequestId = (): string | undefined => ids.getStore();
