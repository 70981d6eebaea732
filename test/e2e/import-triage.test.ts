import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  connectStdio,
  type Ready,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { withoutNulls } from "../support/rows.ts";
import { disputesOf, invoices, ledgerCsv, ledgerMap } from "../support/ledger.ts";
import { withoutAbout } from "../mcp/hosts.ts";

const PASSWORD = "a password that only tests know";
const EMAIL = "lee@acme.example";
const SEEN = "2025-09-30";

const ledger = invoices(29, 900);
const { seen, open } = disputesOf(ledger, SEEN);

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" };

/** A command in the test's own folder. */
const run = (line: string[], input?: string) => runCli(line, env, input, folder);

const result = async (line: string[], input?: string): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await run(line, input);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  const { rejected = 0 } = report;
  expect(stderr).toMatch(
    rejected === 0 ? /^$/ : /^\d+ of \d+ rows were refused, the first in line/,
  );
  expect(status).toBe(0);
  return report;
};

const importing = (file: string, ...more: string[]) => [
  "import",
  "disputes",
  file,
  "--tenant",
  "acme",
  ...more,
];

const MAPPED = ["--map", "map.json", "--create-configuration"];

beforeAll(async () => {
  await mkdir(join(folder, "in"));
  await writeFile(join(folder, "in", "ledger.csv"), `\uFEFF${ledgerCsv(ledger)}`);
  await writeFile(join(folder, "map.json"), JSON.stringify(ledgerMap(SEEN)));
  await result(["admin", "tenant", "create", "acme", "--name", "Acme Inc."]);
});

const isWhole = inject("runsWholeSeries");

describe("the import command", () => {
  const KNOWN = { kind: "disputes", tenantId: "acme", read: ledger.length };
  const skipped = ledger.length - seen.length;

  it("imports a ledger, reports the outcome of its rows, and writes nothing the second time", async () => {
    const file = join("in", "ledger.csv");
    expect(await result(importing(file, ...MAPPED))).toMatchObject({
      ...KNOWN,
      written: seen.length,
      unchanged: 0,
      skipped,
      rejected: 0,
      leftOut: 0,
      rejects: null,
    });
    const again = { ...KNOWN, written: 0, unchanged: seen.length, skipped, rejected: 0 };
    expect(await result(importing(file, ...MAPPED))).toMatchObject(again);
    const text = await readFile(join(folder, file), "utf8");
    expect(await result(importing("-", ...MAPPED), text)).toMatchObject(again);
    expect((await readdir(folder)).toSorted()).toEqual(["data", "in", "map.json"]);
  });

  it.runIf(isWhole)(
    "writes refused rows to a file that can be corrected and imported",
    async () => {
      const row = { accountNumber: "A-1", amount: "9.99", categoryCode: "LEDGER" };
      const rows = [
        { ...row, documentNumber: "E-1" },
        { ...row, documentNumber: "E-2", amount: "9.9.9" },
        { ...row, documentNumber: "E-3", reasonCode: "NOPE" },
      ];
      const columns = ["documentNumber", "accountNumber", "amount", "categoryCode", "reasonCode"];
      const line = (one: object) =>
        columns.map((name) => `"${(one as Record<string, string>)[name] ?? ""}"`).join(",");
      await writeFile(
        join(folder, "in", "faulty.csv"),
        [columns.join(","), ...rows.map(line), '"E-4,x', ""].join("\r\n"),
      );
      const rejects = join(folder, "faulty.csv.rejects.ndjson");
      const faulty = await result(importing(join("in", "faulty.csv")));
      expect(faulty).toMatchObject({
        kind: "disputes",
        tenantId: "acme",
        read: 4,
        written: 1,
        unchanged: 0,
        skipped: 0,
        rejected: 3,
        rejects,
      });
      const lines = (await readFile(rejects, "utf8")).trimEnd().split("\n");
      const refused = lines.map((text) => JSON.parse(text) as { row: Record<string, string> });
      expect(refused).toMatchObject([
        { line: 3, field: "amount", row: { documentNumber: "E-2", amount: "9.9.9" } },
        { line: 4, field: "reasonCode", code: "unknown_reference", row: { reasonCode: "NOPE" } },
        { line: 5, field: "", code: "quote", row: '"E-4,x\r' },
      ]);
      const corrected = { ...refused[0]?.row, amount: 9.99, reasonCode: undefined };
      expect(
        await result(importing("-", "--format", "ndjson"), JSON.stringify(corrected)),
      ).toMatchObject({ written: 1, rejects: null });
      await writeFile(
        join(folder, "in", "faulty.csv"),
        [columns.join(","), line(rows[0] ?? {})].join("\n"),
      );
      expect(await result(importing(join("in", "faulty.csv")))).toMatchObject({ rejects: null });
      expect(await readdir(folder)).not.toContain("faulty.csv.rejects.ndjson");
    },
  );

  it.runIf(isWhole).each([
    ["a kind that there is not", ["import", "dragons", "x.csv", "--tenant", "acme"], 2, /choices/],
    ["no tenant", ["import", "disputes", "x.csv"], 2, /--tenant/],
    ["a format that there is not", importing("map.json", "--format", "xls"), 2, /choices/],
    [
      "a tenant that there is not",
      ["import", "disputes", "map.json", "--tenant", "x"],
      1,
      /tenant x/,
    ],
    ["a file that there is not", importing("none.csv"), 1, /none\.csv cannot be read/],
    ["a folder", importing("in"), 1, /is a folder/],
    ["a map that there is not", importing("map.json", "--map", "none.json"), 1, /none\.json/],
    [
      "a map that is none",
      importing("map.json", "--map", join("in", "ledger.csv")),
      1,
      /not valid/,
    ],
    ["a map for another file", importing("-", ...MAPPED), 1, /does not have: .*customerID/],
  ])("refuses %s", async (_what, line, expected, said) => {
    const { status, stdout, stderr } = await run(line, "a,b\n1,2\n");
    expect([status, stdout]).toEqual([expected, ""]);
    expect(stderr).toMatch(said);
  });

  it.runIf(isWhole)(
    "names unknown columns in the log, and shows no bar without a terminal",
    async () => {
      const text = "documentNumber,accountNumber,amount,categoryCode,note\nL-1,A,1,LEDGER,x\n";
      const { status, stderr } = await run(importing("-"), text);
      expect(status).toBe(0);
      expect(
        stderr
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as object),
      ).toMatchObject([{ level: "warn", event: "import.columns_ignored", columns: ["note"] }]);
    },
  );
});

type Json = Record<string, unknown>;
type Dispute = Json & { disputeId: string; documentNumber: string };
type Answer = { isError?: boolean; structuredContent?: Json; _meta?: Json };

describe("a triage of imported disputes", () => {
  let server: Running;
  let at: Ready;
  let token: string;
  let apiKey: string;
  let host: Client;

  const rest = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${at.baseUrl}${path.replace("{t}", "acme")}`, {
      method,
      headers: { "X-Platform-Auth": token, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return response.json();
  };
  const disputes = "/dispute/v1/tenants/{t}/disputes";
  const read = async (id: string) => (await rest("GET", `${disputes}/${id}`)) as Dispute;

  const call = async (name: string, args: Json = {}) =>
    (await host.callTool({ name, arguments: args })) as Answer;
  const answer = async (name: string, args: Json = {}): Promise<Json> => {
    const result = await call(name, args);
    expect([name, result.isError ?? false]).toEqual([name, false]);
    return withoutAbout(result);
  };

  /** Every item of a list, by the server's cursors. */
  const all = async (name: string, args: Json) => {
    const items: Dispute[] = [];
    let pages = 0;
    let cursor: unknown = null;
    do {
      const page = await answer(name, cursor === null ? args : { ...args, cursor });
      items.push(...(page["items"] as Dispute[]));
      cursor = page["nextCursor"];
      pages += 1;
    } while (typeof cursor === "string");
    return { items, pages };
  };

  const auditLog = async () => {
    const response = await fetch(
      `${at.extBaseUrl}/api/v1/remittance-export/audit-logs?limit=1000`,
      {
        headers: { "X-API-Key": apiKey },
      },
    );
    const { data } = (await response.json()) as { data: Json[] };
    // Commands and readings of the log are entries too.
    return data.filter(({ metadata }) => (metadata as Json)["mcpTool"] !== undefined);
  };

  beforeAll(async () => {
    const person = ["--email", EMAIL, "--first-name", "Lee", "--last-name", "Park"];
    const role = ["--role", "Administrator"];
    await result(["admin", "user", "create", "--tenant", "acme", ...person, ...role], PASSWORD);
    const key = await result(["admin", "key", "issue", "--tenant", "acme", "--name", "audit"]);
    apiKey = String(key["apiKey"]);
    server = startCli(["platform", "--port", "0"], env);
    at = await whenReady(server);
    const login = await fetch(`${at.baseUrl}/authentication/v1/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    });
    token = ((await login.json()) as { accessToken: string }).accessToken;
    const configuration = "/dispute/v1/tenants/{t}";
    await rest("POST", `${configuration}/departments`, { code: "AR", description: "Receivables" });
    const ana = { firstName: "Ana", lastName: "Silva", email: "ana@acme.example" };
    await rest("POST", `${configuration}/assignees`, { departmentCode: "AR", person: ana });
    const credit = { code: "CREDIT", description: "Credit issued", isValid: true };
    await rest("POST", `${configuration}/resolutions`, credit);
    host = await connectStdio({
      RECEIVABLES_DATA: join(folder, "host"),
      RECEIVABLES_BASE_URL: at.baseUrl,
      RECEIVABLES_TENANT_ID: "acme",
      RECEIVABLES_EMAIL: EMAIL,
      RECEIVABLES_PASSWORD: PASSWORD,
      RECEIVABLES_ANSWER_TOKENS: "4000",
    });
  });
  afterAll(async () => {
    await host?.close();
    await server?.end("SIGTERM");
  });

  it("lists the open disputes of the ledger, page by page", async () => {
    const { items, pages } = await all("disputes_list", {
      Status: ["Open"],
      CategoryName: "LEDGER",
      ReasonName: "DISPUTED",
      Sort: "CreateDate",
      fields: ["*"],
    });
    const numbers = new Set(open.map(({ number }) => number));
    const ours = items.filter(({ documentNumber }) => numbers.has(documentNumber));
    expect(ours).toHaveLength(open.length);
    expect(pages).toBeGreaterThan(1);
    const rows = (await rest("GET", `${disputes}?Status=0&Sort=CreateDate`)) as object[];
    expect(items).toEqual(rows.map((row) => ({ ...withoutNulls(row), status: "Open" })));
  });

  it("reassigns, explains and closes with consent; REST, audit log and the next import agree", async () => {
    const [oldest, second] = open.toSorted(
      (a, b) => a.invoiced - b.invoiced || (a.number < b.number ? -1 : 1),
    );
    if (oldest === undefined || second === undefined) throw new Error("too few are open");
    const find = async (documentNumber: string) => {
      const { items } = await all("disputes_list", { DocumentNumber: documentNumber });
      return items[0]?.disputeId ?? "";
    };
    const [disputeId, otherId] = [await find(oldest.number), await find(second.number)];

    await answer("disputes_update", { disputeId, assigneeEmail: "ana@acme.example" });
    const content = "Open since the invoice; please answer the customer.";
    const note = await answer("dispute_notes_create", { disputeId, content });
    expect(await read(disputeId)).toMatchObject({ assigneeName: "Ana Silva", status: 0 });
    expect(await rest("GET", `${disputes}/${disputeId}/disputenotes`)).toEqual([note]);

    const closing = { disputeId: otherId, status: 1, resolutionCode: "CREDIT" };
    const asked = await call("disputes_update", closing);
    expect(asked.isError).toBe(true);
    expect(await read(otherId)).toMatchObject({ status: 0 });
    const confirmation = asked._meta?.["receivables/confirmation"] as Json | undefined;
    const confirmationToken = confirmation?.["confirmationToken"];
    await answer("disputes_update", { ...closing, confirmationToken });
    const closed = await read(otherId);
    expect(closed).toMatchObject({ status: 1, resolutionCode: "CREDIT", isValid: true });
    expect(await answer("disputes_get", { disputeId: otherId })).toEqual({
      ...closed,
      status: "Closed",
    });

    const entries = await auditLog();
    expect(
      entries
        .filter(({ action }) => /updated|closed|created/.test(String(action)))
        .map(({ action, metadata }) => [action, (metadata as Json)["mcpTool"]])
        .toReversed(),
    ).toEqual([
      ["dispute.updated", "disputes_update"],
      ["dispute_note.created", "dispute_notes_create"],
      ["dispute.closed", "disputes_update"],
    ]);

    const worked = [await read(disputeId), await read(otherId)];
    // On the running platform's store, and with the people's work in it.
    const again = await result(importing(join("in", "ledger.csv"), ...MAPPED));
    expect(again).toMatchObject({ written: 0, unchanged: seen.length, rejected: 0 });
    expect([await read(disputeId), await read(otherId)]).toEqual(worked);
    expect(await auditLog()).toEqual(entries);
  });
});
