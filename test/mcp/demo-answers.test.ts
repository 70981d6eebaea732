import { parse } from "csv-parse/sync";
import { readSheet } from "read-excel-file/node";
import { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import { insertApiKey } from "../../src/platform/credentials.ts";
import { loadDemo } from "../../src/platform/demo/load.ts";
import { createDiskFiles } from "../../src/platform/files/disk.ts";
import { sharedValidators } from "../support/shared-validators.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker } from "./each-tool.ts";
import { createOptions, ERAS, type Result } from "./hosts.ts";
import { type ServedTransport, TRANSPORTS } from "./transports.ts";

const NOW = "2026-11-27T12:00:00.000Z";
const DISPUTE = { disputeId: "D-5175194-01" };
const ACCOUNT = "C-11387";

type Call = [tool: string, args: Record<string, unknown>];

/** Each insight, with and without conditions. */
const CALLS: Call[] = [
  ["find_records", { text: "Kilbride" }],
  ["account_statement", { account: ACCOUNT, from: "2026-01-01" }],
  ["account_overview", { account: ACCOUNT }],
  ["account_overview", { account: ACCOUNT, asOf: "2026-10-31" }],
  ["dispute_packet", DISPUTE],
  ["documents_summary", { groupBy: ["account"] }],
  ["documents_summary", { asOf: "2026-10-31" }],
  ["receivables_kpis", {}],
  ["credit_queue", {}],
  ["disputes_summary", { groupBy: ["assignee"] }],
  ["disputes_triage", {}],
  ["payments_match_disputes", {}],
  [
    "match_claims",
    { lines: [{ reference: "5175739" }, { customer: "Northgate", amount: 1643.84 }] },
  ],
  ["deductions_without_dispute", {}],
  ["deductions_without_dispute", { accountNumber: ACCOUNT }],
  ["payments_summarize", { source: "cashapp", groupBy: ["paymentDate:month"] }],
  ["changes_since", { since: "2026-11-01" }],
  ["export_health", {}],
];

const PROMPTS: Record<string, Record<string, string>> = {
  "draft-reply": { ...DISPUTE, kind: "deny" },
  intake: { text: "Please credit 5175739." },
  "month-close": { month: "2026-10" },
  "daily-brief": {},
};

/** Without what is new in each answer: the mark around data, and the place of the next page. */
const scrub = (answer: unknown): string =>
  JSON.stringify(answer)
    .replaceAll(/data-[0-9a-f]{12}/g, "data")
    .replaceAll(/cursor[^A-Za-z0-9]+[\w.-]{20,}/gi, "cursor");

type Row = Record<string, unknown>;

const valueAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (value as Row | null | undefined)?.[name], row);

/** The text of a value in a table; lists and objects have one of their own form. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null ? undefined : String(value ?? "");

describe("answers about the demo tenant", () => {
  let at: TestPlatform;
  let options: Awaited<ReturnType<typeof createOptions>>;
  const clients: { name: string; client: Client }[] = [];
  const served: ServedTransport[] = [];
  beforeAll(async () => {
    at = await startPlatform();
    at.clock.set(NOW);
    const needs = { store: at.store, clock: at.clock, newId: randomId };
    await loadDemo({
      ...needs,
      files: createDiskFiles(at.files),
      credentials: async (tx, made) => void (await insertApiKey(tx, needs, made)),
    });
    const admin = await at.person("demo", { roles: ["Administrator"] });
    const broker = await createTenantBroker({ at, tenantId: "demo", admin });
    options = await createOptions(broker, { now: at.clock, saved: at.platform.savedFiles });
    for (const [door, serve] of TRANSPORTS) {
      const server = await serve(options);
      served.push(server);
      for (const [era, mode] of ERAS) {
        // Over stdio each client has a server of its own.
        const own = door === "stdio" && era !== "2026" ? await serve(options) : server;
        if (own !== server) served.push(own);
        const client = new Client(
          { name: "host", version: "1" },
          { jsonSchemaValidator: sharedValidators, versionNegotiation: { mode } },
        );
        await client.connect(own.transport());
        clients.push({ name: `${door} ${era}`, client });
      }
    }
  }, 120_000);
  afterAll(async () => {
    for (const { client } of clients) await client.close();
    for (const server of served) await server.close();
    await at.close();
  });

  /** Asks every client, and returns the one answer that all of them get. */
  const askAll = async (ask: (client: Client) => Promise<unknown>): Promise<string> => {
    const answers: [string, string][] = [];
    for (const { name, client } of clients) answers.push([name, scrub(await ask(client))]);
    const [, first = ""] = answers[0] ?? [];
    expect(answers).toEqual(clients.map(({ name }) => [name, first]));
    return first;
  };

  const call = async (client: Client, [name, args]: Call): Promise<Result> => {
    const result = (await client.callTool({ name, arguments: args })) as Result;
    expect([name, result.isError ?? false, result.content]).toEqual([name, false, result.content]);
    return result;
  };

  it("are of clients of both eras", () => {
    const eras = clients.map(({ client }) => client.getNegotiatedProtocolVersion()?.slice(0, 4));
    expect(eras).toEqual(["2026", "2025", "2026", "2025"]);
  });

  it.each(CALLS)("%s %j is the same in both eras, over both doors", async (...asked) => {
    const answer = await askAll(async (client) => {
      const { content, structuredContent } = await call(client, asked);
      return { content, structuredContent };
    });
    expect(answer).toContain("asOf");
  });

  verifies("WK-95");
  it.each(Object.entries(PROMPTS))("the prompt %s is, too", async (name, args) => {
    const answer = await askAll(
      async (client) => (await client.getPrompt({ name, arguments: args })).messages,
    );
    expect(answer).toContain('"role":"user"');
  });

  it("resources are, too", async () => {
    const listed = await askAll(async (client) => (await client.listResources()).resources);
    const uris = (JSON.parse(listed) as { uri: string }[]).map(({ uri }) => uri);
    expect(uris.length).toBeGreaterThan(10);
    const records = [`disputes/${DISPUTE.disputeId}`, `accounts/${ACCOUNT}`, "documents/5175739"];
    for (const uri of [...uris, ...records.map((name) => `receivables://${name}`)]) {
      const read = await askAll(async (client) => (await client.readResource({ uri })).contents);
      expect(read).toContain(uri);
    }
  });

  /** Saves the whole answer, and reads the table back. */
  const saveAs = async (client: Client, [tool, args]: Call, save: "csv" | "xlsx") => {
    const { structuredContent = {} } = await call(client, [tool, { ...args, save }]);
    const { uri } = structuredContent["saved"] as { uri: string };
    const [content] = (await client.readResource({ uri })).contents;
    if (content === undefined) throw new Error(`${uri} is empty`);
    return "text" in content ? content.text : Buffer.from(content.blob, "base64");
  };

  verifies("WK-90");
  it.each(CALLS)("%s %j has all of its items in saved tables", async (...asked) => {
    const [{ client } = {}] = clients;
    if (client === undefined) throw new Error("no client is connected");
    const items: Row[] = [];
    for (let cursor: unknown = {}; cursor !== undefined;) {
      const more = typeof cursor === "string" ? { cursor } : {};
      const { structuredContent = {} } = await call(client, [asked[0], { ...asked[1], ...more }]);
      items.push(...(structuredContent["items"] as Row[]));
      cursor =
        (structuredContent["about"] as Row | undefined)?.["nextCursor"] ??
        structuredContent["nextCursor"];
    }
    const text = await saveAs(client, asked, "csv");
    const [header = [], ...rows] = parse(String(text), { bom: true });
    const sheet = await readSheet((await saveAs(client, asked, "xlsx")) as Buffer);
    expect(sheet.map((row) => row.length)).toEqual([header, ...rows].map((row) => row.length));
    expect(sheet[0]).toEqual(header);
    expect(rows).toHaveLength(items.length);
    const paths = header.map((name) => name.split("."));
    for (const [place, item] of items.entries()) {
      for (const [column, path] of paths.entries()) {
        const cell = rows[place]?.[column];
        const inSheet = sheet[place + 1]?.[column];
        if (typeof inSheet === "number") expect(String(inSheet)).toBe(cell);
        const expected = textOf(valueAt(item, path));
        // Answers shorten some items; tables have them whole.
        if (expected === undefined || expected === "") continue;
        expect([path, cell?.replace(/^'/, "")]).toEqual([path, expected]);
      }
      for (const [name, value] of Object.entries(item)) {
        const isFilled = Array.isArray(value) ? value.length > 0 : textOf(value) !== "";
        if (isFilled) expect(paths.map(([first]) => first)).toContain(name);
      }
    }
  });
});
