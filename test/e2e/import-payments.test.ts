import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { bai2, edi820 } from "../support/bank-files.ts";
import { runCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" };

const run = (line: string[], input = "") => runCli(line, env, input, folder);
const importing = (...more: string[]) => ["import", "payments", ...more, "--tenant", "acme"];
const cashapp = ["--source", "cashapp"];

beforeAll(async () => {
  const { status, stderr } = await run([
    "admin",
    "tenant",
    "create",
    "acme",
    "--name",
    "Acme Inc.",
  ]);
  if (status !== 0) throw new Error(stderr);
});

verifies("D-QRY-7");
it("imports a bank's file from standard input once, however often it is sent", async () => {
  const file = bai2([
    { cents: "100" },
    { cents: "250", customer: "R-2" },
    { type: "409", cents: "9" },
  ]);
  const line = importing("-", ...cashapp, "--format", "bai2");
  const first = await run(line, file);
  expect([first.status, first.stderr]).toEqual([0, ""]);
  const counts = {
    kind: "payments",
    tenantId: "acme",
    read: 3,
    skipped: 0,
    rejected: 0,
    leftOut: 1,
    doubtful: 0,
    rejects: null,
  };
  expect(JSON.parse(first.stdout)).toMatchObject({ ...counts, written: 2, unchanged: 0 });
  const again = await run(line, file);
  expect(JSON.parse(again.stdout)).toMatchObject({ ...counts, written: 0, unchanged: 2 });
});

it("refuses a malformed file with the faulty segment, and stores none of it", async () => {
  const rows = ["RMR*IV*INV-1**10", "RMR*IV*INV-2**ten"];
  await writeFile(join(folder, "bad.edi"), edi820(rows));
  const { status, stdout, stderr } = await run(
    importing("bad.edi", ...cashapp, "--format", "edi820"),
  );
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("segment 7 has no amount");
  await writeFile(join(folder, "good.edi"), edi820(["RMR*IV*INV-1**1500.75"]));
  const good = await run(importing("good.edi", ...cashapp, "--format", "edi820"));
  expect(JSON.parse(good.stdout)).toMatchObject({ read: 1, written: 1 });
});

it("writes refused rows of CSV to a file with the reason, and imports the others", async () => {
  const csv = `paymentId,paymentAmount,currencyCode,paymentDate,shortPay,payerAccountLast4,unknown
P-1,10.5,USD,2026-02-01,true,1234,x
P-2,ten,USD,2026-02-01,no,1234,x
,1,USD,2026-02-01,false,1234,x
P-4,1,USD,2026-02-01,false,4111111111111111,x
`;
  await writeFile(join(folder, "rows.csv"), csv);
  const { status, stdout, stderr } = await run(importing("rows.csv", ...cashapp));
  expect(status, stderr).toBe(0);
  expect(stderr).toContain('"unknown"');
  const { rejects, ...counts } = JSON.parse(stdout);
  expect(counts).toMatchObject({ read: 4, written: 1, rejected: 3 });
  const kept = (await readFile(rejects, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(kept.map(({ line, field }) => [line, field])).toEqual([
    [3, "paymentAmount"],
    [4, "paymentId"],
    [5, "payerAccountLast4"],
  ]);
});

it("combinations of options that are wrong usage", async () => {
  const wrong = [
    importing("x.csv"),
    ["import", "accounts", "x.csv", "--tenant", "acme", ...cashapp],
    importing("x", "--source", "bpn", "--format", "camt"),
    importing("x", "--source", "cash"),
  ];
  for (const line of wrong) {
    const { status, stdout } = await run(line);
    expect([status, stdout], line.join(" ")).toEqual([2, ""]);
  }
});
