import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectStdio,
  createPeople,
  type Ready,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { application, field, form, formType, section } from "../support/credit.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const IMPORT_MANUAL = join(import.meta.dirname, "../../docs/import.md");

type Json = Record<string, unknown>;

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "warn" };
let server: Running;
let at: Ready;
let host: Client;

const cli = async (line: string[], input = "", status = 0): Promise<Json> => {
  const ran = await runCli(line, env, input, folder);
  expect(ran.status).toBe(status);
  if (status !== 0) return { said: ran.stderr };
  const report = JSON.parse(ran.stdout) as Json;
  const { rejected = 0 } = report;
  expect(ran.stderr).toMatch(rejected === 0 ? /^$/ : /^\d+ of \d+ rows were refused/);
  return report;
};

const importing = (kind: string, file: string, ...more: string[]) =>
  cli(["import", kind, file, "--tenant", "acme", ...more]);

const call = async (name: string, args: Json): Promise<Json> => {
  const { structuredContent, _meta } = await host.callTool({ name, arguments: args });
  expect([name, _meta?.["receivables/problem"]]).toEqual([name, undefined]);
  return structuredContent as Json;
};

const SECRET = "98-7654321";
const FORM = form(
  formType("Internal Form", [section("x", [field("gone")])], { status: "Disabled" }),
  formType("External Form", [
    section("s", [
      field("ein", {
        displayName: "Federal Tax ID",
        position: 2,
        answerDetails: [{ answer: SECRET, index: 0, updated: false }],
      }),
      field("first"),
    ]),
  ]),
);

/** The example lines of the manual, by file name. */
const examplesOf = (manual: string): [name: string, line: string][] =>
  [...manual.matchAll(/`(\w+)\.ndjson`[^\n]*\n+```ndjson\n(.*?)```/gms)].map(
    ([, name = "", line = ""]) => [name, line],
  );

beforeAll(async () => {
  await createPeople(env, { emails: ["ann@acme.example"], password: "a long enough password" });
  server = startCli(["platform", "--port", "0"], env);
  at = await whenReady(server);
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  const settings = {
    RECEIVABLES_DATA: join(folder, "host"),
    RECEIVABLES_BASE_URL: at.baseUrl,
    RECEIVABLES_TENANT_ID: "acme",
    RECEIVABLES_EMAIL: "ann@acme.example",
    RECEIVABLES_PASSWORD: "a long enough password",
  };
  host = await connectStdio(settings, { client });
});

afterAll(async () => {
  await host?.close();
  await server?.end("SIGTERM");
});

describe("credit over stdio", () => {
  it("imports the manual's example lines once while a server runs", async () => {
    const examples = examplesOf(await readFile(IMPORT_MANUAL, "utf8"));
    expect(examples.map(([name]) => name)).toEqual(["units", "scores", "applications"]);
    for (const [name, line] of examples) await writeFile(join(folder, `${name}.ndjson`), line);
    const kinds = {
      units: "business-units",
      scores: "scores",
      applications: "credit-applications",
    };
    for (const [name, kind] of Object.entries(kinds)) {
      const first = await importing(kind, `${name}.ndjson`);
      expect(first).toMatchObject({ kind, read: 1, written: 1, rejected: 0, rejects: null });
      expect(await importing(kind, `${name}.ndjson`)).toMatchObject({ written: 0, unchanged: 1 });
    }
  });

  it("reads nested records as NDJSON by default, and writes refused ones to a file", async () => {
    const bad = { ...application("CA-3"), colour: "red" };
    const lines = [application("CA-2", { applicationForm: FORM }), bad];
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    const done = await cli(["import", "credit-applications", "-", "--tenant", "acme"], text);
    expect(done).toMatchObject({ read: 2, written: 1, rejected: 1 });
    const kept = JSON.parse(await readFile(String(done["rejects"]), "utf8"));
    expect(kept).toMatchObject({ line: 2, field: "colour", code: "unknown", row: bad });
  });

  it("returns the same as REST, with sensitive answers masked", async () => {
    const args = { activityType: "LASTMODIFIED", startDate: "2026-01-11", endDate: "2026-01-11" };
    const list = await call("credit_applications_list", args);
    expect(list).toMatchObject({
      applications: [{ applicationId: "CA-2" }, { applicationId: "CA-1" }],
      applicationStatusSummary: [{ type: "Under Review", title: "In Review", noOfApplications: 2 }],
      truncated: false,
      nextCursor: null,
    });
    const one = await call("credit_applications_get", { applicationId: "CA-2" });
    expect(JSON.stringify(one)).toContain("****4321");
    expect(JSON.stringify(one)).not.toContain(SECRET);
    expect(await call("company_scores_get", { companyId: "4711" })).toMatchObject({
      fibs: { fibs_score: 71 },
      creditLimit: 250_000,
    });
    const units = await call("business_units_list", {});
    expect(units).toMatchObject({ items: [{ displayName: "Region" }], total: 1 });
    const none = await host.callTool({ name: "company_scores_get", arguments: { companyId: "1" } });
    expect(none._meta?.["receivables/problem"]).toMatchObject({ code: "not_found" });
  });

  verifies("CR-23");
  it("returns the form as text in the resource and the prompt", async () => {
    const uri = "receivables://credit-applications/CA-2";
    const { contents } = await host.readResource({ uri });
    const text = String((contents[0] as { text?: string }).text);
    expect(JSON.parse(text).forms).toEqual([
      {
        form: "External Form",
        sections: [
          {
            section: "Section s",
            questions: [
              { question: "Field first", answer: "answer of first" },
              { question: "Federal Tax ID", answer: "****4321" },
            ],
          },
        ],
      },
    ]);
    const { messages } = await host.getPrompt({
      name: "review-credit-application",
      arguments: { applicationId: "CA-2" },
    });
    expect(messages[1]?.content).toMatchObject({ type: "resource", resource: { uri, text } });
    const recent = await host.readResource({ uri: "receivables://credit-applications" });
    expect(JSON.parse(String((recent.contents[0] as { text?: string }).text))).toMatchObject({
      activityType: "LASTMODIFIED",
      truncated: false,
    });
  });
});
