import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { importLedger, makeTenant } from "./importing.ts";
import { SIGNING } from "./signing.ts";

// Imports a file of documents into a new SQLite store and tells the most memory that this took, in KiB.
const [database = "", ledger = "", rows = ""] = process.argv.slice(2);
const store = await openSqlite(database, SIGNING);
await makeTenant(store);
await importLedger(store, ledger, Number(rows));
await store.close();
process.stdout.write(`${process.resourceUsage().maxRSS}\n`);
