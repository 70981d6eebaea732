import type { Db, Store } from "./store/port.ts";

/** Ends a transaction that must change nothing. */
class RolledBack extends Error {}

/** Runs `act` in a transaction that is rolled back, and returns its result. Other writers wait meanwhile. */
export const rollBack = async <T>(
  { transaction }: Pick<Store, "transaction">,
  act: (tx: Db) => Promise<T>,
  tenantId: string,
): Promise<T> => {
  const done: T[] = [];
  try {
    await transaction(async (tx) => {
      done.push(await act(tx));
      throw new RolledBack();
    }, tenantId);
  } catch (error) {
    if (error instanceof RolledBack) return done.at(-1) as T;
    throw error;
  }
  throw new Error("The transaction of a dry run was committed.");
};
