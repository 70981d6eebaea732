import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readProblem, type Result, readText, withoutAbout } from "../mcp/hosts.ts";
import { runAdmin, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { ACCOUNT } from "../support/ingest.ts";
import {
  type ServerProcess,
  startHttpProcess,
  startStdioProcess,
} from "../support/server-process.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "only the tests know this one";
const EMAIL = "ar@acme.example";

type Fields = Record<string, unknown>;

const folder = useFolder();
let extApiKey: string;

const dataOf = (name: string): string => join(folder, name);

const admin = (line: string[], input = "") =>
  runAdmin(line, { RECEIVABLES_DATA: dataOf("before") }, input);

const running: Running[] = [];

const startPlatform = async (data: string, port = "0") => {
  const platform = startCli(["platform", "--port", port], { RECEIVABLES_DATA: dataOf(data) });
  running.push(platform);
  return { platform, url: (await whenReady(platform)).baseUrl };
};

/** A platform that has the records as they were at first. */
const newPlatform = async (data: string) => {
  await rm(dataOf(data), { recursive: true, force: true });
  await cp(dataOf("before"), dataOf(data), { recursive: true });
  return startPlatform(data);
};

const credentials = (data: string): Record<string, string> => ({
  RECEIVABLES_DATA: dataOf(data),
  RECEIVABLES_TENANT_ID: "acme",
  RECEIVABLES_EMAIL: EMAIL,
  RECEIVABLES_PASSWORD: PASSWORD,
  RECEIVABLES_EXT_API_KEY: extApiKey,
});

const remote = (data: string, url: string): Record<string, string> => ({
  ...credentials(data),
  RECEIVABLES_BASE_URL: url,
});

const TRANSPORTS = [
  ["stdio", startStdioProcess],
  ["HTTP", startHttpProcess],
] as const;

/** A tenant as every platform has it at first. */
beforeAll(async () => {
  await admin(["tenant", "create", "acme", "--name", "Acme Inc."]);
  const person = ["--email", EMAIL, "--first-name", "Ann", "--last-name", "Lee"];
  await admin(
    ["user", "create", "--tenant", "acme", ...person, "--role", "Administrator"],
    PASSWORD,
  );
  extApiKey = String((await admin(["key", "issue", "--tenant", "acme", "--name", "t"]))["apiKey"]);
  await cp(dataOf("before"), dataOf("embedded"), { recursive: true });
});
afterAll(() => Promise.all(running.map((platform) => platform.end("SIGTERM"))));

/** Earlier answers by the name under which later steps refer to them. */
type Known = Record<string, Fields>;
type Step = [tool: string, args: (known: Known) => Fields, as?: string];

const dispute = (documentNumber: string): Fields => ({
  amount: 1234.5,
  accountNumber: "A/1 ä",
  documentNumber,
  reasonCode: "wrong",
});
const named = (known: Known, name: string, key: string): unknown => known[name]?.[key];
const one = (known: Known): Fields => ({ disputeId: named(known, "dispute", "disputeId") });

const SCRIPT: Step[] = [
  ["auth_login", () => ({})],
  ["users_profile", () => ({})],
  ["categories_create", () => ({ code: "PRICE", description: "Pricing" })],
  ["reasons_create", () => ({ code: "WRONG", description: "Wrong", categoryCode: "PRICE" })],
  ["departments_create", () => ({ code: "SALES", description: "Sales" })],
  ["resolutions_create", () => ({ code: "CREDIT", description: "Credit", isValid: true })],
  ["disputes_create", () => dispute("D 1"), "dispute"],
  ["disputes_create", () => dispute("D/2 50%"), "other"],
  ["disputes_create", () => ({ ...dispute("D 3"), amount: -1 })],
  ["disputes_create", () => ({ ...dispute("D 3"), reasonCode: "none" })],
  ["categories_create", () => ({ code: "price", description: "Again" })],
  ["disputes_get", one],
  ["disputes_get", () => ({ disputeId: "none" })],
  ["disputes_list", () => ({ PageSize: 1 })],
  ["disputes_list", () => ({ DocumentNumber: "d/2 5" })],
  ["disputes_list", () => ({ Sort: "Nothing" })],
  ["disputes_update", (known) => ({ ...one(known), poNumber: "PO-7" })],
  ["disputes_update", (known) => ({ ...one(known), poNumber: "PO-8", ifMatch: '"no"' })],
  ["dispute_notes_create", (known) => ({ ...one(known), content: "Ein Satz – und ein 🙂." })],
  ["dispute_notes_list", one],
  ["disputes_list_by_ids", (known) => ({ disputeIds: [one(known).disputeId, "none"] })],
  ["disputes_list_by_ids", () => ({ disputeIds: ["none"] })],
  [
    "disputes_list_by_document_numbers",
    () => ({ accountNumber: "A/1 ä", documentNumbers: ["D 1", "D/2 50%"], status: "Open" }),
  ],
  ["disputes_list_by_document_numbers", () => ({ accountNumber: "none", documentNumbers: ["x"] })],
  ["accounts_create", () => ({ ...ACCOUNT, account_number: "A/1 ä" })],
  ["accounts_get", () => ({ account_number: "A/1 ä" })],
  ["accounts_get", () => ({ account_number: "none" })],
  ["payments_schema", () => ({})],
  ["payments_query", () => ({ source: "cashapp", filters: { paymentAmount: { gte: 0 } } })],
  ["payments_query", () => ({ source: "cashapp", filters: { nothing: { eq: 0 } } })],
  ["webhooks_list", () => ({})],
  ["disputes_delete", one],
];

const REFUSED = [
  "disputes_create invalid_request",
  "disputes_create invalid_request",
  "categories_create duplicate_code",
  "disputes_get not_found",
  "disputes_list invalid_request",
  "disputes_update precondition_failed",
  "accounts_get account_not_found",
  "payments_query invalid_request",
  "disputes_delete confirmation_required",
];

const UUID = /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Tells apart what each side makes up for itself by the order in which it appears. */
const createMasking = () => {
  const met = new Map<string, string>();
  return (value: unknown): unknown => {
    const text = JSON.stringify(value ?? null).replaceAll(TIME, "(a time)");
    const masked = text.replaceAll(UUID, (id) => {
      if (!met.has(id)) met.set(id, `(id ${met.size})`);
      return met.get(id) ?? "";
    });
    return JSON.parse(masked);
  };
};

// Cursors, confirmation tokens and request ids differ in every answer.
const isSealed = (key: string): boolean =>
  ["nextCursor", "cursor", "requestId", "confirmationToken"].includes(key);

const without = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) =>
      isSealed(key) && typeof inner === "string" ? "(sealed)" : inner,
    ),
  );

type Told = [tool: string, answer: unknown, code: string | null];

const play = async (server: ServerProcess): Promise<Told[]> => {
  const known: Known = {};
  const mask = createMasking();
  const told: Told[] = [];
  for (const [tool, args, as] of SCRIPT) {
    const result: Result = await server.call(tool, args(known));
    if (as !== undefined) known[as] = withoutAbout(result);
    const { isError = false } = result;
    const problem = readProblem(result) ?? null;
    const answer = mask(without([isError, withoutAbout(result), problem]));
    told.push([tool, answer, problem?.code ?? null]);
  }
  return told;
};

/** Several processes start in turn, on a machine that may be slow. */
const LONG = { timeout: 240_000 };

verifies("C-08");
describe("a platform elsewhere", LONG, () => {
  it("gives the same answers as the one in this process, step by step, over both transports", async () => {
    const inside = await startStdioProcess(credentials("embedded"));
    const expected = await play(inside);
    await inside.close();
    const refused = expected.flatMap(([tool, , code]) =>
      code === null ? [] : [`${tool} ${code}`],
    );
    expect(refused).toEqual(REFUSED);
    for (const [name, start] of TRANSPORTS) {
      // A new platform each time, since calls change records.
      const { platform: other, url } = await newPlatform(`platform ${name}`);
      const host = await start(remote(`host ${name}`, url));
      const answers = await play(host);
      for (const [index, answer] of answers.entries()) expect(answer).toEqual(expected[index]);
      expect(answers).toHaveLength(SCRIPT.length);
      await host.close();
      await other.end("SIGTERM");
    }
  });
});

/** The text of all notes of a dispute, in one page. */
const notesOf = async (server: ServerProcess, disputeId: unknown): Promise<string[]> => {
  const result = await server.call("dispute_notes_list", { disputeId, PageSize: 100 });
  expect(result.isError, readText(result)).not.toBe(true);
  const { items } = result.structuredContent as { items: { content: string }[] };
  return items.map(({ content }) => content);
};

const prepare = async (server: ServerProcess): Promise<void> => {
  const [, , category, reason] = SCRIPT;
  for (const [tool, args] of [category, reason].filter((step) => step !== undefined)) {
    // In this order, since a reason belongs to a category.
    const made = await server.call(tool, args({}));
    expect(made.isError, readText(made)).not.toBe(true);
  }
};

verifies("C-05");
describe("a platform elsewhere that is killed and comes back", LONG, () => {
  it.each(TRANSPORTS)(
    "does not end the server over %s, which continues without repeating a change",
    async (name, open) => {
      const data = `killed ${name}`;
      const { platform, url } = await newPlatform(data);
      const server = await open(remote(`host of ${name}`, url));
      await prepare(server);
      const made = await server.call("disputes_create", dispute("K 1"));
      const disputeId = made.structuredContent?.["disputeId"];
      expect(made.isError, readText(made)).not.toBe(true);
      const writes = Array.from({ length: 40 }, (_each, index) =>
        server
          .call("dispute_notes_create", { disputeId, content: `note ${index}` })
          .then((result) => ({ index, result })),
      );
      await Promise.race(writes);
      await platform.end("SIGKILL");
      const ended = await Promise.all(writes);
      const lost = await server.call("disputes_get", { disputeId });
      expect(readProblem(lost)).toMatchObject({ code: "unavailable" });
      await startPlatform(data, new URL(url).port);

      const read = await server.call("disputes_get", { disputeId });
      const { notes: _unknownDocument, ...created } = withoutAbout(made);
      expect(withoutAbout(read)).toEqual(created);
      const notes = await notesOf(server, disputeId);
      expect(new Set(notes).size).toBe(notes.length);
      for (const { index, result } of ended) {
        if (result.isError !== true) expect(notes).toContain(`note ${index}`);
        else expect(readProblem(result).code).toBe("unavailable");
      }
      const again = await server.call("dispute_notes_create", { disputeId, content: "after" });
      expect(again.isError, readText(again)).not.toBe(true);
      await server.close();
    },
  );
});
