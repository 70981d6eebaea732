import { describe, expect, it } from "vitest";
import { verifyAudit } from "../../src/platform/admin/audit.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { rowsOf } from "../support/audit.ts";
import { runCli, startCli } from "../support/cli.ts";
import { dialects } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "crashing";
/** So many that the import still writes batches when it is killed. */
const ROWS = 100_000;
const LINE = ["import", "accounts", "-", "--tenant", TENANT];
const HEADER = "account_number,name,currency\n";
const ACCOUNTS = Array.from({ length: ROWS }, (_, index) => `A-${index},Name ${index},USD\n`);

const countAccounts = async ({ read }: Store): Promise<number> => {
  const counted = read.selectFrom("accounts").select(({ fn }) => fn.countAll().as("rows"));
  return Number((await counted.executeTakeFirstOrThrow()).rows);
};

/** The texts of the entries of imports, in their order. */
const readRuns = async ({ read }: Store) =>
  (await rowsOf(read, TENANT))
    .filter(({ action }) => action === "import.accounts")
    .map(({ metadata }) => JSON.parse(metadata) as { status: string; written: number });

describe.each(dialects)("an import that is killed ($name)", (dialect) => {
  verifies("OP-02");
  it("leaves an audit entry for each batch that it had written", async () => {
    const database = await dialect.createMigrated();
    const env = { ...database.environment, RECEIVABLES_LOG: "warn" };
    const made = await runCli(["admin", "tenant", "create", TENANT, "--name", "C"], env);
    expect(made.status, made.stderr).toBe(0);
    const store = await database.open();
    try {
      const running = startCli(LINE, env);
      running.stdin.on("error", () => {}); // it is closed by the kill
      // Standard input is stored to its end before anything is written, because files are read twice.
      running.stdin.end(HEADER + ACCOUNTS.join(""));
      await expect.poll(() => countAccounts(store), { interval: 5 }).toBeGreaterThan(0);
      await running.end("SIGKILL");
      // PostgreSQL may finish a commit after the death of its client.
      const unaccounted = async () =>
        (await countAccounts(store)) - ((await readRuns(store)).at(-1)?.written ?? 0);
      await expect.poll(unaccounted).toBe(0);
      const killed = await readRuns(store);
      expect(killed.map(({ status }) => status)).toEqual(killed.map(() => "running"));
      expect(await countAccounts(store)).toBeLessThan(ROWS);
      const again = await runCli(LINE, env, HEADER + ACCOUNTS.join(""));
      expect(again.status, again.stderr).toBe(0);
      const { written, unchanged } = JSON.parse(again.stdout) as {
        written: number;
        unchanged: number;
      };
      expect(written + unchanged).toBe(ROWS);
      expect(unchanged).toBeGreaterThan(0);
      expect((await readRuns(store)).at(-1)).toMatchObject({ status: "completed", written });
      expect(await verifyAudit({ store }, TENANT)).toMatchObject({ ok: true });
    } finally {
      await store.close();
      await database.remove();
    }
  });
});
