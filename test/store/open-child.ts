import { dirname } from "node:path";
import { openPostgres } from "../../src/platform/store/postgres/open.ts";
import { openSqlite } from "../../src/platform/store/sqlite/open.ts";
import { signingIn } from "../support/signing.ts";
import { count } from "../../src/platform/store/queries/counters.ts";

// Opens the store at argv[2], or that of DATABASE_URL, and counts argv[3] times in one window, a transaction each.
const [path = "", times = "0"] = process.argv.slice(2);
const { DATABASE_URL: url } = process.env;
const signing = signingIn(dirname(path));
const store = await (url === undefined ? openSqlite(path, signing) : openPostgres(url, signing));
for (let done = 0; done < Number(times); done++) {
  await store.transaction((tx) => count(tx, "shared", 0, 1000));
}
await store.close();
