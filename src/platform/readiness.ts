import { type Readiness, createReadiness, NotReady } from "../kit/readiness.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { readStoreId } from "./files/identity.ts";
import type { FileStore } from "./files/port.ts";
import { findMissingMigrations } from "./store/migrations/migrate.ts";
import type { Store } from "./store/port.ts";

export type PlatformReadinessNeeds = { store: Store; files: FileStore; clock: Clock; log: Log };

// The same for every check and node, so that a crash leaves one byte behind at most.
const PROBE = "probe/write";

/** Creates a check that the file store is the one of the first check: a folder can be written without its disk, too. */
const createSameStore = (files: FileStore) => {
  let known: string | undefined;
  return async (): Promise<void> => {
    const id = await readStoreId(files);
    known ??= id;
    if (id === known) return;
    const found = id === undefined ? "lost its id" : "got another id";
    throw new NotReady(`the file store ${found}: check that its disk is mounted`);
  };
};

/** Creates the check of everything that requests to the platform need. */
export const createPlatformReadiness = ({
  store,
  files,
  clock,
  log,
}: PlatformReadinessNeeds): (() => Promise<Readiness>) => {
  const checkSameStore = createSameStore(files);
  return createReadiness({
    clock,
    log,
    parts: {
      store: () => store.ping(),
      async schema() {
        const missing = await findMissingMigrations(store.read);
        if (missing.length === 0) return;
        throw new NotReady(`${missing.join(", ")} not applied: start one node of this version`);
      },
      async files() {
        await checkSameStore();
        await files.put(PROBE, [new Uint8Array(1)], 1);
        await files.remove(PROBE);
      },
    },
  });
};
