import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { invoices, ledgerCsv } from "../support/ledger.ts";

const IMPORT_MANUAL = join(import.meta.dirname, "../../docs/import.md");

const ledger = invoices(5, 700);
const SEEN = "2013-09-30";
// The manual's maps contain this date; the ledger is shifted to it.
const text = ledgerCsv(ledger).replaceAll("/2025,", "/2013,").replaceAll("/2026,", "/2014,");
const dayOf = (at: number): string =>
  new Date(at).toISOString().slice(0, 10).replace("2025", "2013").replace("2026", "2014");
const paid = ledger.filter(({ settled }) => dayOf(settled) <= SEEN);

const KINDS = ["accounts", "documents", "closures"];

/** The maps of the manual, by the kind of record that they import. */
const mapsOf = (manual: string): Map<string, string> =>
  new Map(
    [...manual.matchAll(/^`(\w+)\.json`[^\n]*\n+```json\n(.*?)```/gms)].map(
      ([, name = "", map = ""]) => [name, map],
    ),
  );

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" };
let shown: string[];

const result = async (line: string[]): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await runCli(line, env, "", folder);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  const { rejected = 0 } = report;
  // On stderr there is a line about refused rows, and nothing else.
  const refusals = rejected === 0 ? /^$/ : new RegExp(`^${String(rejected)} of .* were refused`);
  expect(stderr).toMatch(refusals);
  expect(status).toBe(0);
  return report;
};

const importing = (kind: string, file = "ledger.csv", ...more: string[]) =>
  result(["import", kind, file, "--tenant", "acme", ...more]);

beforeAll(async () => {
  await writeFile(join(folder, "ledger.csv"), text);
  const maps = mapsOf(await readFile(IMPORT_MANUAL, "utf8"));
  shown = [...maps.keys()];
  for (const [kind, map] of maps) await writeFile(join(folder, `${kind}.json`), map);
  await result(["admin", "tenant", "create", "acme", "--name", "Acme Inc."]);
});

describe("the manual's maps of a whole ledger", () => {
  const rows = ledger.length;
  const customers = new Set(ledger.map(({ customer }) => customer)).size;
  const DONE: Record<string, object> = {
    accounts: { written: customers, unchanged: rows - customers, skipped: 0 },
    documents: { written: rows, unchanged: 0, skipped: 0 },
    closures: { written: paid.length, unchanged: 0, skipped: rows - paid.length },
  };

  it("import accounts, documents and closures, and change nothing the second time", async () => {
    expect(paid.length).toBeGreaterThan(50);
    expect(paid.length).toBeLessThan(rows - 50);
    expect(shown).toEqual(KINDS);
    for (const kind of KINDS) {
      expect(await importing(kind, "ledger.csv", "--map", `${kind}.json`)).toMatchObject({
        kind,
        tenantId: "acme",
        read: rows,
        rejected: 0,
        rejects: null,
        ...DONE[kind],
      });
    }
    for (const kind of KINDS) {
      const again = await importing(kind, "ledger.csv", "--map", `${kind}.json`);
      const { skipped } = DONE[kind] as { skipped: number };
      expect(again).toMatchObject({ written: 0, unchanged: rows - skipped, rejected: 0 });
    }
  });

  it("import a named pipe, as shells create them", async () => {
    const pipe = join(folder, "pipe.ndjson");
    execFileSync("mkfifo", [pipe]);
    const account = { account_number: "PIPED", name: "Piped", currency: "USD" };
    const [counts] = await Promise.all([
      importing("accounts", "pipe.ndjson"),
      writeFile(pipe, `${JSON.stringify(account)}\n`),
    ]);
    expect(counts).toMatchObject({ read: 1, written: 1 });
  });

  it("write refused rows to a file that can be corrected and imported", async () => {
    const closure = { document_number: "nowhere", closure_reason: "paid" };
    const lines = [
      closure,
      { ...closure, document_number: ledger[0]?.number, closure_reason: "?" },
    ];
    await writeFile(
      join(folder, "more.ndjson"),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
    const line = ["import", "closures", "more.ndjson", "--tenant", "acme"];
    const { status, stdout } = await runCli(line, env, "", folder);
    // No row was good.
    expect(status).toBe(1);
    const { rejected, rejects } = JSON.parse(stdout) as { rejected: number; rejects: string };
    expect(rejected).toBe(2);
    const kept = (await readFile(rejects, "utf8")).trim().split("\n");
    expect(kept.map((line) => JSON.parse(line))).toMatchObject([
      { line: 1, field: "document_number", code: "document_not_found", row: lines[0] },
      { line: 2, field: "closure_reason", code: "enum", row: lines[1] },
    ]);
  });
});
