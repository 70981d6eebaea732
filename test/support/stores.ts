import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/platform/store/port.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";

export type Dialect = {
  name: Store["dialect"];
  /** A fresh, empty store of this dialect; `open` again gives a second process's view of it. */
  create(): Promise<{ open(): Promise<Store>; remove(): Promise<void> }>;
};

const sqlite: Dialect = {
  name: "sqlite",
  async create() {
    const folder = mkdtempSync(join(tmpdir(), "receivables-store-"));
    return {
      open: () => openSqlite(join(folder, "platform.db")),
      async remove() {
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

/** Every store and platform test runs once for each. */
export const dialects: readonly Dialect[] = [sqlite];
