import { createReadStream } from "node:fs";
import { systemClock } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { insertTenant } from "../../src/platform/admin/tenants.ts";
import { createDocumentTarget } from "../../src/platform/import/documents.ts";
import { parseImportMap } from "../../src/platform/import/map.ts";
import { runImport } from "../../src/platform/import/run.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { MAP, TENANT } from "./ledger-file.ts";

const target = createDocumentTarget({ tenantId: TENANT, clock: systemClock });

/** As many rows as the import writes in a transaction. */
export const { batchRows } = target;

export const makeTenant = (store: Store): Promise<unknown> =>
  store.transaction((tx) =>
    insertTenant(
      tx,
      { store, clock: systemClock, newId: randomId },
      { tenantId: TENANT, name: TENANT },
    ),
  );

/** Imports a file of so many new documents. */
export const importLedger = async (store: Store, path: string, rows: number): Promise<void> => {
  const { written } = await runImport({
    store,
    tenantId: TENANT,
    importId: randomId(),
    changesBefore: 0,
    target,
    format: "csv",
    map: parseImportMap(JSON.stringify(MAP), target.fields),
    bytes: () => createReadStream(path),
    warn: () => {},
    reject: async ([first]) => {
      throw new Error(`refused: ${first?.field} ${first?.message}`);
    },
    progress: () => {},
    ignored: () => {},
    ended: new AbortController().signal,
    record: (tx, metadata) =>
      createRecordChange({ store, clock: systemClock, newId: randomId, operator: "bench" })(tx, {
        tenantId: TENANT,
        action: "import.documents",
        metadata,
      }),
  });
  if (written !== rows) throw new Error(`${written} rows were written`);
};
