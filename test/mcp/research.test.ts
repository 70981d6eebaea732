import { beforeAll, describe, expect, it } from "vitest";
import { type Scope, toAuthInfo } from "../../src/mcp/caller.ts";
import { createScopeChecks } from "../../src/mcp/http/scopes.ts";
import { dataSentence } from "../../src/mcp/results/answer.ts";
import { parseRecordAddress, toRecordAddress } from "../../src/mcp/results/record-pages.ts";
import { sanitize } from "../../src/mcp/results/sanitize.ts";
import { createIsUsable, toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { o200kTokens } from "../support/o200k.ts";
import { onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";
import { createRecords, createTenantBroker } from "./each-tool.ts";
import { HOSTILE } from "./hostile.ts";
import {
  ALL,
  connectModern,
  connectScripted,
  createCaller,
  createOptions,
  readProblem,
  readText,
  type Result,
  withoutAbout,
  settingsOf,
} from "./hosts.ts";
import { askAt } from "./insight-host.ts";
import { CLIENTS, TRANSPORTS } from "./transports.ts";

const TENANT = "research";
const RESEARCH = { settings: { research: true } };
const SERVER = new URL("https://ar.example/mcp");
/** The least that the setting takes. */
const LEAST_TOKENS = 1000;

const namesOf = (toolsets: string): string[] =>
  toolList(settingsOf(toolsets)).map(({ name }) => name);

type Hit = { id: string; title: string; url: string };
type Fetched = Hit & { text: string; metadata: Record<string, string> };

/** Returns what a host for research reads: the JSON of the only text. */
const readOnly = (result: Result): Record<string, unknown> => {
  expect(result.content.map(({ type }) => type)).toEqual(["text"]);
  const data = JSON.parse(readText(result)) as Record<string, unknown>;
  expect(withoutAbout(result)).toEqual(data);
  expect(result._meta?.["receivables/untrusted"]).toBe(true);
  return data;
};

const readHits = (result: Result): Hit[] => {
  const data = readOnly(result) as { results: Hit[] };
  expect(Object.keys(data)).toEqual(["results"]);
  for (const hit of data.results) expect(Object.keys(hit)).toEqual(["id", "title", "url"]);
  return data.results;
};

const readFetched = (result: Result): Fetched => {
  const data = readOnly(result) as Fetched;
  expect(Object.keys(data)).toEqual(["id", "title", "text", "url", "metadata"]);
  expect(data.text).toContain(dataSentence);
  expect(data.metadata).toMatchObject({ about: dataSentence });
  return data;
};

verifies("RC-05");
describe("the tools for research", () => {
  it("are listed only where the setting names them, beside others or alone", () => {
    expect(namesOf("research")).toEqual(["search", "fetch"]);
    expect(namesOf("core,research")).toEqual(["search", "fetch", ...namesOf("core")]);
    expect(namesOf("all,research")).toEqual(["search", "fetch", ...namesOf("all")]);
    for (const toolsets of ["all", "core", "insights"]) {
      expect(namesOf(toolsets)).not.toContain("search");
      expect(namesOf(toolsets)).not.toContain("fetch");
    }
    const inDiscovery = toolList({ ...ALL, research: true, discovery: true });
    expect(inDiscovery.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["find_tools", "search", "fetch", "find_records"]),
    );
    for (const tool of toolList(settingsOf("research"))) {
      expect(tool.annotations.readOnlyHint).toBe(true);
      expect(tool._meta?.["anthropic/searchHint"]).toMatch(/\w+,? \w+/);
      expect(o200kTokens(tool)).toBeLessThanOrEqual(700);
    }
  });

  it("do not exist without the setting", async () => {
    const { host } = await connectScripted({});
    for (const name of ["search", "fetch"]) {
      await expect(host.call(name, {})).rejects.toThrow("Unknown tool");
    }
  });

  it.each([
    ["search", {}, "query"],
    ["search", { query: " " }, "query"],
    ["search", { query: "x".repeat(201) }, "query"],
    ["search", { text: "Acme" }, "known: query"],
    ["fetch", { uri: "receivables://guide" }, "known: id"],
  ])("%s refuses %j", async (name, args, fault) => {
    const { host, broker } = await connectScripted({}, RESEARCH);
    const result = await host.call(name, args);
    expect(readProblem(result).code).toBe("invalid_request");
    expect(readText(result)).toContain(fault);
    expect(broker.seen).toEqual([]);
  });

  it("are logged by their own names, and limited once", async () => {
    const calls: string[] = [];
    const callLog = {
      record: async ({ tool, outcome }: { tool: string; outcome: string }) => {
        calls.push(`${tool} ${outcome}`);
      },
    };
    const settings = { research: true, callsPerMinute: 3 };
    const { host } = await connectScripted({}, { settings, callLog });
    await host.call("fetch", { id: "receivables://guide" });
    await host.call("search", {});
    await host.call("fetch", {});
    await host.call("search", { query: "Acme" });
    expect(calls).toEqual([
      "fetch done",
      "search invalid_request",
      "fetch invalid_request",
      "search rate_limited",
    ]);
  });

  it("need the scope read alone", () => {
    const { checkBody } = createScopeChecks({ ...ALL, research: true });
    for (const name of ["search", "fetch"]) {
      const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } };
      const answerTo = (scopes: readonly Scope[]) =>
        checkBody(body, toAuthInfo(createCaller("ann", { scopes })));
      expect(answerTo(["write", "admin"])?.status).toBe(403);
      expect(answerTo(["read"])).toBeUndefined();
      const isUsable = (scopes: Scope[]) => createIsUsable({ scopes, rights: undefined })(name);
      expect([isUsable(["read"]), isUsable(["write"])]).toEqual([true, false]);
    }
  });

  it("name a record by an address that leads back to it", () => {
    for (const kind of ["account", "dispute", "document"] as const) {
      for (const id of ["D-1", "C 1", "INV/1?x", "100 %"]) {
        expect(parseRecordAddress(toRecordAddress({ kind, id }))).toEqual({ kind, id });
      }
    }
    for (const other of [
      "receivables://guide",
      "receivables://disputes/D-1/attachments/f-1",
      "receivables://disputes/D-1?cursor=x",
      "receivables://disputes/%E0%A4%A",
      "https://ar.example/disputes/D-1",
    ]) {
      expect(parseRecordAddress(other), other).toBeUndefined();
    }
  });
});

onEveryStore("research", (at) => {
  const asking = askAt(at, TENANT);
  let records: Records;
  let code = "";
  beforeAll(async () => {
    records = await createRecords(asking(), "research");
    const { disputeId } = records.dispute;
    const { structuredContent } = await asking().host.call("disputes_get", { disputeId });
    code = String(structuredContent?.["disputeCode"]);
    const content = HOSTILE.map(([, text]) => text.replaceAll("\0", "").toWellFormed()).join("\n");
    await asking().ask("dispute_notes_create", { disputeId, content });
  });

  verifies("RC-05");
  describe.each(TRANSPORTS)("over %s", (_door, serve) => {
    it.each(CLIENTS)("finds records and reads them (%s)", async (_client, connect) => {
      const options = await createOptions(asking().broker, {
        settings: settingsOf("research"),
        mcpUrl: SERVER,
        now: () => at().clock(),
      });
      const served = await serve(options);
      const driver = await connect(served, false);
      expect(driver.toolNames).toEqual(["search", "fetch"]);
      const hits = readHits(await driver.call("search", { query: code }));
      const page = `https://ar.example/disputes/${encodeURIComponent(code)}`;
      expect(hits[0]).toEqual({
        id: `receivables://disputes/${encodeURIComponent(code)}`,
        title: expect.stringContaining(`Dispute ${code}: `),
        url: page,
      });
      const dispute = readFetched(await driver.call("fetch", { id: hits[0]?.id }));
      expect(dispute).toMatchObject({ id: hits[0]?.id, title: `Dispute ${code}`, url: page });
      expect(dispute.text).toContain(records.dispute.documentNumber);
      await driver.close();
      await served.close();
    });
  });

  const connect = async (settings: object = {}, broker = asking().broker) => {
    const needs = { settings: { research: true, ...settings }, now: () => at().clock() };
    return connectModern(await createOptions(broker, needs));
  };

  verifies("RC-05");
  it("reads each kind that it finds, and names its address where no page is", async () => {
    const host = await connect();
    const { account, document } = records;
    for (const [kind, number] of [
      ["account", account.account_number],
      ["document", document.document_number],
      ["dispute", code],
    ] as const) {
      const id = toRecordAddress({ kind, id: number });
      const hits = readHits(await host.call("search", { query: number }));
      expect(hits.find((hit) => hit.id === id)?.url).toBe(id);
      const found = readFetched(await host.call("fetch", { id }));
      expect(found).toMatchObject({ id, url: id, metadata: { type: kind } });
      expect(found.text).toContain(number);
    }
    expect(readHits(await host.call("search", { query: "nothing-has-this" }))).toEqual([]);
  });

  verifies("RC-05");
  it("reads other addresses as their resource, and says what does not exist", async () => {
    const host = await connect();
    const guide = readFetched(await host.call("fetch", { id: "receivables://guide" }));
    expect(guide).toMatchObject({ url: "receivables://guide", metadata: { type: "resource" } });
    for (const id of ["receivables://disputes/D-none-01", "receivables://nothing", "elsewhere"]) {
      const refused = await host.call("fetch", { id });
      expect(refused.isError, id).toBe(true);
      expect(readProblem(refused).code, id).toBe("not_found");
    }
  });

  verifies("RC-05");
  it("keeps the budget of answers with hostile text, sanitized", async () => {
    for (const answerTokens of [LEAST_TOKENS, 6000]) {
      const host = await connect({ answerTokens });
      for (const result of [
        await host.call("search", { query: "research" }),
        await host.call("fetch", { id: toRecordAddress({ kind: "dispute", id: code }) }),
        await host.call("fetch", {
          id: toRecordAddress({ kind: "account", id: records.account.account_number }),
        }),
      ]) {
        expect(result.isError).not.toBe(true);
        expect(o200kTokens(readText(result))).toBeLessThanOrEqual(answerTokens);
        expect(o200kTokens(result.structuredContent)).toBeLessThanOrEqual(answerTokens);
        expect(sanitize(result.structuredContent)).toEqual(result.structuredContent);
        expect(readText(result)).not.toMatch(/<[a-z!/|]/i);
      }
    }
  });

  verifies("RC-05");
  it("finds and reads only what the caller may read", async () => {
    const admin = await at().person(TENANT, { grants: ["Credit Applications : READ"] });
    const broker = await createTenantBroker({ at: at(), tenantId: TENANT, admin });
    const host = await connect({}, broker);
    const hits = await host.call("search", { query: code });
    expect(readHits(hits)).toEqual([]);
    expect(JSON.stringify(hits.structuredContent)).toContain("not searched");
    const id = toRecordAddress({ kind: "dispute", id: code });
    expect(readProblem(await host.call("fetch", { id })).code).toBe("forbidden_permission");
    await host.close();
    await broker.close();
  });
});
