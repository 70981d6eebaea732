import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { bai2, camtEntry, camtStatement } from "../support/bank-files.ts";
import { runCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";
import { packZip } from "../support/zip.ts";

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "error" };

const run = (line: readonly string[], input = "") => runCli([...line], env, input, folder);
const importing = (file: string, ...more: readonly string[]) => [
  "import",
  "payments",
  file,
  "--source",
  "cashapp",
  "--tenant",
  "acme",
  ...more,
];
const parseLines = (text: string) =>
  text
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

const list = async () => {
  const { stdout } = await run(["import", "list", "--tenant", "acme"]);
  return parseLines(stdout);
};

const save = (name: string, text: string | Buffer) => writeFile(join(folder, name), text);

beforeAll(async () => {
  const { status, stderr } = await run(["admin", "tenant", "create", "acme", "--name", "Acme"]);
  if (status !== 0) throw new Error(stderr);
});

const HEAD = "paymentId,paymentDate,currencyCode,paymentAmount,payerName";

verifies("MN-05", "MN-15");
it("ends with status 1 if a file was not read, no row was good or control totals differ", async () => {
  await save("not.pdf", "%PDF-1.7\n%\u00e2\n1 0 obj\n");
  const unread = await run(importing("not.pdf"));
  expect([unread.status, unread.stdout]).toEqual([1, ""]);
  expect(unread.stderr).toContain("PDF");
  await save("bad.csv", `${HEAD}\nP1,2026-03-01,USD,ten,A\nP2,2026-03-01,XXQ,1.00,A\n`);
  const bad = await run(importing("bad.csv"));
  expect(bad.status).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({ read: 2, rejected: 2, written: 0 });
  const file = bai2([{ cents: "10000", bank: "B1" }]);
  await save("totals.bai2", file.replaceAll("510100", "510200"));
  const differing = await run(importing("totals.bai2"));
  expect([differing.status, differing.stdout]).toEqual([1, ""]);
  expect(differing.stderr).toMatch(/5102\.00.*5101\.00/);
  await save("mixed.csv", `${HEAD}\nP1,2026-03-01,USD,ten,A\nP2,2026-03-01,USD,1.00,A\n`);
  const mixed = await run(importing("mixed.csv"));
  expect([mixed.status, JSON.parse(mixed.stdout)]).toMatchObject([0, { rejected: 1, written: 1 }]);
});

verifies("MN-01", "MN-02", "MN-05");
it("names what it left out, lists imports, and takes one back", async () => {
  const entries = [
    camtEntry({ amount: "40.00", reference: "A1" }),
    camtEntry({ amount: "3.00", reference: "A2", code: "ACMT/MCOP/INTR" }),
  ];
  await save("statement.xml", camtStatement(entries.join("")));
  const dry = await run(importing("statement.xml", "--dry-run"));
  expect([dry.status, dry.stderr]).toEqual([0, ""]);
  const before = await list();
  const first = await run(importing("statement.xml", "--verbose"));
  expect([first.status, first.stderr]).toEqual([0, ""]);
  const { importId, entriesLeftOut, ...report } = JSON.parse(first.stdout);
  const { importId: _, dryRun, ...planned } = JSON.parse(dry.stdout);
  expect([planned, dryRun]).toEqual([report, true]);
  expect(report).toMatchObject({
    format: "camt",
    read: 2,
    written: 1,
    leftOut: 1,
    totals: [{ currencyCode: "EUR", credits: 43, debits: 0, written: 40, leftOut: 3 }],
  });
  expect(entriesLeftOut).toMatchObject([{ amount: "3.00", reason: expect.any(String) }]);
  const [newest, ...others] = await list();
  expect(newest).toMatchObject({ importId, file: "statement.xml", status: "completed" });
  expect(others).toEqual(before);
  const undone = await run(["import", "undo", importId]);
  expect([undone.status, JSON.parse(undone.stdout)]).toMatchObject([0, { undone: 2, kept: 0 }]);
  const twice = await run(["import", "undo", importId]);
  expect([twice.status, twice.stderr]).toEqual([1, expect.stringContaining("already")]);
});

verifies("MN-01", "MN-17");
it("prints the totals of each file of a ZIP", async () => {
  const statement = (id: string, amount: string) =>
    camtStatement(camtEntry({ amount, reference: id })).replace("<Id>S1<", `<Id>${id}<`);
  await save(
    "two.zip",
    await packZip({ "a.xml": statement("Z1", "11.00"), "b.xml": statement("Z2", "22.00") }),
  );
  const { status, stdout, stderr } = await run(importing("two.zip"));
  expect([status, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({
    read: 2,
    written: 2,
    totals: [
      { file: "a.xml", currencyCode: "EUR", credits: 11, written: 11 },
      { file: "b.xml", currencyCode: "EUR", credits: 22, written: 22 },
    ],
    files: [
      { file: "a.xml", format: "camt", read: 1, written: 1 },
      { file: "b.xml", format: "camt", read: 1, written: 1 },
    ],
  });
});

verifies("MN-03");
it("lists doubtful payments and settles them", async () => {
  const doubtful = ["admin", "payments", "doubtful"];
  for (const file of ["1", "2", "3"]) {
    await save("cash.bai2", bai2([{ cents: "777", text: "CASH" }], { file }));
    const { status, stderr } = await run(importing("cash.bai2"));
    expect(status, stderr).toBe(0);
  }
  const listed = await run([...doubtful, "list", "acme"]);
  const [one, other, ...none] = parseLines(listed.stdout);
  expect([listed.status, none]).toEqual([0, []]);
  expect([one, other]).toMatchObject([
    { amount: 7.77, currencyCode: "USD", reason: expect.stringContaining("possible duplicate") },
    { amount: 7.77, currencyCode: "USD", reason: expect.stringContaining("possible duplicate") },
  ]);
  const same = await run([...doubtful, "same", "acme", one.id]);
  expect([same.status, JSON.parse(same.stdout)]).toMatchObject([0, { settledAs: "same" }]);
  const different = await run([...doubtful, "different", "acme", other.id]);
  expect([different.status, JSON.parse(different.stdout)]).toMatchObject([
    0,
    { settledAs: "different" },
  ]);
  const after = await run([...doubtful, "list", "acme"]);
  expect([after.status, after.stdout]).toEqual([0, ""]);
  const again = await run([...doubtful, "same", "acme", one.id]);
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining(one.id)]);
});

verifies("MN-22");
it("suggests maps for standard input, NDJSON and a ZIP, as they are imported", async () => {
  const suggest = (file: string, input = "") =>
    run(
      ["import", "suggest", "payments", file, "--currency", "EUR", "--output", "map.json"],
      input,
    );
  const bring = (file: string, input = "") => run(importing(file, "--map", "map.json"), input);
  const table = (id: string): string =>
    `Zahlungsnummer;Datum;Betrag;Kunde\n${id};01.03.2026;1.234,50;Müller GmbH\n`;
  const piped = await suggest("-", table("Z-1"));
  expect(JSON.parse(piped.stdout)).toMatchObject({ format: "csv", preview: [{ line: 2 }] });
  expect(JSON.parse((await bring("-", table("Z-1"))).stdout)).toMatchObject({ written: 1 });
  const rows = [
    { payment_id: "N-1", payment: { date: "2026-03-01", amount: 12.5 }, payer: "Acme" },
    { payment_id: "N-2", payment: { date: "2026-03-02", amount: 7 }, payer: "Bolt" },
  ];
  await save("rows.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const { stdout } = await suggest("rows.ndjson");
  expect(JSON.parse(stdout)).toMatchObject({
    format: "ndjson",
    columns: ["payment_id", "payment.date", "payment.amount", "payer"],
    preview: [{ record: { paymentId: "N-1", paymentAmount: 12.5 } }, { line: 2 }],
  });
  expect(JSON.parse((await bring("rows.ndjson")).stdout)).toMatchObject({ written: 2 });
  await save("pack.zip", await packZip({ "a.csv": table("Z-2"), "b.csv": table("Z-3") }));
  const zipped = JSON.parse((await suggest("pack.zip")).stdout);
  expect(zipped).toMatchObject({ file: "a.csv", format: "csv", header: 1 });
  expect(zipped.notes.join(" ")).toContain("b.csv");
  expect(JSON.parse((await bring("pack.zip")).stdout)).toMatchObject({ written: 2 });
  execFileSync("mkfifo", [join(folder, "pipe.zip")]);
  const packed = await packZip({ "a.csv": table("Z-4"), "b.csv": table("Z-5") });
  const [pipedZip] = await Promise.all([bring("pipe.zip"), save("pipe.zip", packed)]);
  expect(JSON.parse(pipedZip.stdout)).toMatchObject({ written: 2 });
  await save("statement.bai", bai2([{ cents: "10000", bank: "B1" }]));
  const bank = await suggest("statement.bai");
  expect([bank.status, bank.stderr]).toEqual([1, expect.stringContaining("needs no map")]);
});
