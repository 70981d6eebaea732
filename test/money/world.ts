import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { fakeClock } from "../support/clock.ts";
import { signingIn } from "../support/signing.ts";
import type { World } from "./mixture.ts";

/** Creates an empty store on SQLite below a folder, for mixtures outside of the test runner. */
export const createWorld = async (parent: string): Promise<World & { close(): Promise<void> }> => {
  const folder = mkdtempSync(join(parent, "receivables-money-"));
  const store = await openSqlite(join(folder, "receivables.db"), signingIn(folder));
  return {
    store,
    clock: fakeClock(),
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
