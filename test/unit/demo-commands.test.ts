import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { openPlatform } from "../../src/bin/compose/platform.ts";
import { createLog, silentLog } from "../../src/kit/log.ts";
import { runCommand, SILENT } from "../support/run-command.ts";
import { LAST_STEPS } from "../support/unmigrated.ts";
import { verifies } from "../support/verifies.ts";

let home: string;
let data: string;

const run = (...argv: string[]) => runCommand(data, argv, { env: SILENT });

const open = () =>
  openPlatform(
    readConfig({ env: { RECEIVABLES_DATA: data }, dataFolder: data, readFile: () => "" }),
    silentLog,
  );

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "demo-commands-"));
  data = join(home, "data");
  const { status, text } = await run("admin", "demo", "create");
  if (status !== 0) throw new Error(text);
});

verifies("HS-09");
describe("admin demo", () => {
  it("makes keys with which the REST API of the demo tenant answers", async () => {
    const { status, printed } = await run("admin", "demo", "key");
    expect(status).toBe(0);
    const { apiKey, extApiKey } = printed[0] as { apiKey: string; extApiKey: string };
    const platform = await open();
    const ask = async (path: string, headers: Record<string, string>) =>
      (await platform.fetch(new Request(`http://localhost${path}`, { headers }))).status;
    const disputes = "/dispute/v1/tenants/demo/disputes?PageSize=1";
    expect(await ask(disputes, { "x-platform-api-key": apiKey })).toBe(200);
    expect(await ask("/api/v1/remittance-export/schema", { "x-api-key": extApiKey })).toBe(200);
    await platform.close();
  });

  it("is reset only when its name is repeated, and has lost every change then", async () => {
    const place = new DatabaseSync(join(data, "receivables.db"));
    const count = () =>
      (place.prepare("select count(*) as n from dispute_notes").get() as { n: number }).n;
    const before = count();
    place.exec("delete from dispute_notes");
    const refused = await run("admin", "demo", "reset");
    expect([refused.status, count()]).toEqual([1, 0]);
    const reset = await run("admin", "demo", "reset", "--confirm", "demo");
    expect([reset.status, count()]).toEqual([0, before]);
    expect(reset.text).toContain("start them again");
    place.close();
  });
});

describe("call", () => {
  const call = (tool: string, args: object, ...options: string[]) =>
    run("call", tool, JSON.stringify(args), ...options);

  verifies("WK-92");
  it("prints the result of one tool, and nothing else", async () => {
    const { status, printed, text } = await call("disputes_list", { PageSize: 2 });
    expect([status, printed.length, text]).toEqual([0, 1, ""]);
    expect(printed[0]).toMatchObject({ count: 2, items: [expect.anything(), expect.anything()] });
  });

  it("reads its arguments from standard input, too", async () => {
    const args = ["call", "find_records"];
    const input = '{"text": "C-1", "limit": 1}';
    const direct = await call("find_records", { text: "C-1", limit: 1 });
    for (const more of [[], ["-"]]) {
      const { printed } = await runCommand(data, [...args, ...more], { env: SILENT, input });
      expect(printed[0]).toMatchObject({ items: direct.printed[0]?.["items"] });
    }
    const wrong = await runCommand(data, args, { env: SILENT, input: "[1" });
    expect([wrong.status, wrong.printed]).toEqual([2, []]);
    expect(wrong.text).toContain("on standard input must be a JSON object");
  });

  it("gives the hints that a model gets", async () => {
    const unknown = await call("dispute_list", {});
    expect([unknown.status, unknown.printed]).toEqual([2, []]);
    expect(unknown.text).toMatch(/Unknown tool: "dispute_list".*disputes_list/);
    const wrong = await call("disputes_list", { statuses: "Open" });
    expect(wrong.status).toBe(1);
    expect(wrong.text).toMatch(/^invalid_request: disputes_list: statuses .*status.*Next: /i);
  });

  it("changes nothing that a person must confirm without --yes", async () => {
    const listed = await call("disputes_list", { status: "Open", PageSize: 1 });
    const { items } = listed.printed[0] as { items: { disputeCode: string; disputeId: string }[] };
    const { disputeCode = "", disputeId = "" } = items[0] ?? {};
    const change = { disputeId, status: "Closed" };
    const asked = await call("disputes_update", change);
    expect([asked.status, asked.printed]).toEqual([1, []]);
    expect(asked.text).toContain(disputeCode);
    expect(asked.text).toContain("Add --yes");
    expect((await call("disputes_get", { disputeId })).printed[0]).toMatchObject({
      status: "Open",
    });
    const done = await call("disputes_update", change, "--yes");
    expect(done.status, done.text).toBe(0);
    expect(done.printed[0]).toMatchObject({ status: "Closed" });
  });

  verifies("WK-90", "WK-92");
  it("saves the file that the tool's link gives", async () => {
    const path = join(home, "disputes.csv");
    const saved = await call("disputes_list", {}, "--csv", path);
    expect(saved.printed[0]).toMatchObject({ saved: { rows: 300 } });
    const linked = await call("disputes_list", { save: "csv" });
    const { name } = (linked.printed[0] as { saved: { name: string } }).saved;
    expect(name).toMatch(/^disputes_list-/);
    const platform = await open();
    const files = await readdir(join(data, "files"), { recursive: true, withFileTypes: true });
    const stored = files.filter((file) => file.isFile() && /saved/.test(file.parentPath));
    const bytes = await Promise.all(
      stored.map(async (file) => readFile(join(file.parentPath, file.name), "utf8")),
    );
    await platform.close();
    const text = await readFile(path, "utf8");
    expect(bytes).toEqual([text, text]);
    expect(text.split("\r\n")).toHaveLength(302);
    const both = await call("disputes_list", {}, "--csv", path, "--xlsx", path);
    expect(both.status).toBe(2);
  });
});

verifies("HS-09");
describe("an upgrade of the store", () => {
  it("is announced, with the way to use several checkouts", async () => {
    const place = new DatabaseSync(join(data, "receivables.db"));
    // A store whose last step has not been applied.
    const [step, statements] = Object.entries(LAST_STEPS)[0] ?? ["", []];
    for (const statement of statements) place.exec(statement);
    place.exec(`delete from kysely_migration where name = '${step}'`);
    place.close();
    const lines: string[] = [];
    const config = readConfig({
      env: { RECEIVABLES_DATA: data },
      dataFolder: data,
      readFile: () => "",
    });
    await (
      await openPlatform(
        config,
        createLog("warn", (line) => lines.push(line)),
      )
    ).close();
    expect(JSON.parse(lines[0] ?? "{}")).toMatchObject({
      event: "store.upgraded",
      steps: [step],
      hint: expect.stringContaining("RECEIVABLES_DATA"),
    });
  });

  it("by a later version is refused with what to do", async () => {
    const place = new DatabaseSync(join(data, "receivables.db"));
    place.exec("insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00.000Z')");
    const { status, text } = await run("admin", "demo", "key");
    place.exec("delete from kysely_migration where name = '9999-later'");
    place.close();
    expect(status).toBe(1);
    expect(text).toContain("The store is newer than this program");
    expect(text).toContain("use another data folder (--data or RECEIVABLES_DATA)");
  });
});

verifies("HS-09");
describe("admin data remove", () => {
  it("refuses a folder that is not named, not its own, or in use", async () => {
    const unnamed = await run("admin", "data", "remove");
    expect([unnamed.status, unnamed.text]).toEqual([1, expect.stringContaining("--confirm")]);
    const other = await run("admin", "data", "remove", "--data", home, "--confirm", home);
    expect([other.status, other.text]).toEqual([1, expect.stringContaining("is no data folder")]);
    const platform = await open();
    const busy = await run("admin", "data", "remove", "--confirm", data);
    expect([busy.status, busy.text]).toEqual([1, expect.stringContaining("is in use")]);
    await platform.close();
    expect(existsSync(join(data, "receivables.db"))).toBe(true);
  });

  it("removes what the program stored, and names other files", async () => {
    await writeFile(join(data, "notes.txt"), "mine");
    const { status, printed } = await run("admin", "data", "remove", "--confirm", data);
    expect([status, printed[0]]).toEqual([
      0,
      expect.objectContaining({ folder: data, left: ["notes.txt"] }),
    ]);
    expect(await readdir(data)).toEqual(["notes.txt"]);
  });
});
