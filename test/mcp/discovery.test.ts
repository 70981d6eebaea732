import { afterEach, describe, expect, it } from "vitest";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { toolsets } from "../../tools/index.ts";
import { buildGuide, buildInstructions } from "../../tools/guide.ts";
import { o200kTokens } from "../support/o200k.ts";
import { META, requestOf } from "./messages.ts";
import { verifies } from "../support/verifies.ts";
import { ARGS, createDeletion, listChanges, readConfirmation } from "./confirming.ts";
import {
  ALL,
  connectModern,
  connectScripted,
  createOptions,
  HOSTS,
  readProblem,
  readText,
  YES,
  withoutAbout,
} from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { CLIENTS, TRANSPORTS } from "./transports.ts";
import { trustingGate } from "./trusting-gate.ts";

const DISCOVERY = { settings: { discovery: true } };
const OWN = ["find_tools", "describe_tool", "call_tool"];
const listed = [...OWN, ...toolsets.insights.map(({ name }) => name)];
const DELETION = { name: "departments_delete", arguments: ARGS };

describe("the list in discovery mode", () => {
  const tools = toolList({ ...ALL, discovery: true });

  verifies("IN-62");
  it("has three tools and the insights", () => {
    expect(tools.map(({ name }) => name)).toEqual(listed);
    expect(
      o200kTokens(buildInstructions(toolsetNames, false, { discovery: true })),
    ).toBeLessThanOrEqual(600);
    expect(buildInstructions(toolsetNames, false, { discovery: true })).toMatch(
      /find_tools.*call_tool/,
    );
  });

  it("is explained by the guide", () => {
    expect(buildGuide(toolsetNames, false, { discovery: true })).toMatch(/find_tools.*call_tool/);
    expect(buildGuide(toolsetNames, false)).not.toContain("find_tools");
  });

  it("says that call_tool can do everything, except in read-only mode", () => {
    const annotationsOf = (list: typeof tools) =>
      list.find(({ name }) => name === "call_tool")?.annotations;
    expect(annotationsOf(tools)).toMatchObject({ destructiveHint: true, openWorldHint: true });
    const reading = toolList({ ...ALL, discovery: true, readOnly: true });
    expect(annotationsOf(reading)).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });

  it("has no insights if their toolset is disabled", () => {
    const some = toolList({ toolsets: ["audit"], readOnly: false, discovery: true });
    expect(some.map(({ name }) => name)).toEqual(OWN);
  });
});

describe.each(TRANSPORTS)("discovery over %s", (_transport, serve) => {
  verifies("IN-62");
  it.each(CLIENTS)("finds, describes and calls a tool (%s)", async (_client, connect) => {
    const broker = createDeletion();
    const served = await serve(await createOptions(broker, DISCOVERY));
    const driver = await connect(served, true);
    expect(driver.toolNames).toEqual(listed);
    const found = await driver.call("find_tools", { query: "delete a department by its id" });
    const { tools } = found.structuredContent as { tools: object[] };
    expect(tools[0]).toMatchObject({ name: "departments_delete", readOnly: false });
    expect(tools.length).toBeLessThanOrEqual(8);
    const told = await driver.call("describe_tool", { name: "departments_delete" });
    const whole = toolList(ALL).find(({ name }) => name === "departments_delete");
    const { outputSchema: _output, _meta: _hints, ...described } = whole ?? {};
    expect(withoutAbout(told)).toEqual(described);
    const gone = await driver.call("call_tool", DELETION);
    expect(withoutAbout(gone)).toEqual({ deleted: true, ...ARGS });
    expect(listChanges(broker)[0]?.options.tool).toBe("departments_delete");
    await driver.close();
    await served.close();
  });
});

verifies("IN-62");
describe.each(HOSTS)("call_tool (%s)", (_name, open) => {
  it("asks the person, and changes nothing without a yes", async () => {
    const broker = createDeletion();
    const questions: string[] = [];
    const host = await open(await createOptions(broker, DISCOVERY), (question) => {
      questions.push(question);
      return { action: "decline" };
    });
    const result = await host.call("call_tool", DELETION);
    expect(readProblem(result).code).toBe("declined");
    expect(questions).toEqual(["Delete department SALES (Sales and service)?"]);
    expect(listChanges(broker)).toEqual([]);
  });

  it("gives a host that cannot ask a token, which acts once", async () => {
    const broker = createDeletion();
    const host = await open(await createOptions(broker, DISCOVERY));
    const first = await host.call("call_tool", DELETION);
    expect(readProblem(first).code).toBe("confirmation_required");
    const { confirmationToken } = readConfirmation(first);
    const again = { ...DELETION, arguments: { ...ARGS, confirmationToken } };
    const second = await host.call("call_tool", again);
    expect(withoutAbout(second)).toEqual({ deleted: true, ...ARGS });
    expect(readProblem(await host.call("call_tool", again)).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toHaveLength(1);
  });
});

describe("call_tool", () => {
  const DEPARTMENT = { "departments.get": () => ({ departmentId: "d" }) };

  it("answers and refuses as a direct call does", async () => {
    const { host } = await connectScripted(DEPARTMENT, DISCOVERY);
    for (const args of [{ departmentCode: "A" }, { departmentcode: "A" }, {}]) {
      const [direct, through] = await Promise.all([
        host.call("departments_get", args),
        host.call("call_tool", { name: "departments_get", arguments: args }),
      ]);
      expect(through.structuredContent).toEqual(direct.structuredContent);
      expect(through.isError).toBe(direct.isError);
      if (direct.isError === true) expect(readProblem(through)).toEqual(readProblem(direct));
    }
  });

  it("takes arguments as JSON text, and none for a tool without arguments", async () => {
    const replies = { ...DEPARTMENT, "departments.list": () => [] };
    const { host } = await connectScripted(replies, DISCOVERY);
    const text = { name: "departments_get", arguments: '{"departmentCode": "A"}' };
    expect(withoutAbout(await host.call("call_tool", text))).toEqual({ departmentId: "d" });
    const list = await host.call("call_tool", { name: "departments_list" });
    expect(list.structuredContent).toMatchObject({ count: 0 });
  });

  it.each([
    ["call_tool", { name: "department_get" }, "did you mean departments_get"],
    ["call_tool", { name: "disputes_close" }, "did you mean disputes_update"],
    ["describe_tool", { name: "dispute_list" }, "did you mean disputes_list"],
    ["call_tool", { name: "find_tools" }, "is not a tool"],
    ["call_tool", { name: "users_profile", tool: 1 }, "known: name, arguments"],
    ["call_tool", { arguments: {} }, "name"],
    ["call_tool", { name: "users_profile", arguments: [1] }, "arguments"],
    ["find_tools", { query: " " }, "query"],
    ["find_tools", { search: "x" }, "known: query"],
  ])("%s refuses %j", async (name, args, said) => {
    const { host } = await connectScripted({}, DISCOVERY);
    const result = await host.call(name, args);
    expect(readProblem(result).code).toBe("invalid_request");
    expect(readText(result)).toContain(said);
  });

  it("is logged under the name of the tool that it calls, and limited once", async () => {
    const calls: string[] = [];
    const callLog = {
      record: async ({ tool, outcome }: { tool: string; outcome: string }) => {
        calls.push(`${tool} ${outcome}`);
      },
    };
    const settings = { discovery: true, callsPerMinute: 4 };
    const { host } = await connectScripted(DEPARTMENT, { settings, callLog });
    const call = { name: "departments_get", arguments: { departmentCode: "A" } };
    await host.call("call_tool", call);
    await host.call("find_tools", { query: "departments" });
    await host.call("call_tool", { name: "nothing" });
    await host.call("call_tool", call);
    const refused = await host.call("find_tools", { query: "departments" });
    expect(readProblem(refused).code).toBe("rate_limited");
    expect(calls).toEqual([
      "departments_get done",
      "find_tools done",
      "call_tool invalid_request",
      "departments_get done",
      "find_tools rate_limited",
    ]);
  });

  verifies("IN-62");
  it("knows only the enabled tools: the toolsets, and those that read in read-only mode", async () => {
    const broker = createDeletion();
    const settings = {
      discovery: true,
      readOnly: true,
      toolsets: ["dispute_configuration"] as const,
    };
    const host = await connectModern(await createOptions(broker, { settings }), YES);
    const found = await host.call("find_tools", { query: "delete a department" });
    const { tools } = found.structuredContent as { tools: { name: string; readOnly: boolean }[] };
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.every(({ readOnly }) => readOnly)).toBe(true);
    for (const name of ["departments_delete", "disputes_list"]) {
      for (const tool of ["describe_tool", "call_tool"]) {
        expect(readText(await host.call(tool, { name }))).toContain("is not a tool");
      }
    }
    expect(listChanges(broker)).toEqual([]);
  });

  it("does not exist outside discovery mode", async () => {
    const { host } = await connectScripted({});
    await expect(host.call("call_tool", DELETION)).rejects.toThrow("Unknown tool");
  });

  it("finds nothing in words that name no tool, and says how to ask", async () => {
    const { host } = await connectScripted({}, DISCOVERY);
    const found = await host.call("find_tools", { query: "xyzzy" });
    expect(found.structuredContent).toMatchObject({ tools: [], notes: expect.any(String) });
  });
});

const MODERN = {
  "mcp-method": "tools/call",
  "mcp-name": "call_tool",
  "mcp-protocol-version": "2026-07-28",
};

describe("scopes over HTTP", () => {
  let http: HttpServer;
  afterEach(() => http.close());

  const post = async (scopes: string, tool: string, headers: Record<string, string>) => {
    http = createHttpServer(await createOptions(scriptBroker({}), DISCOVERY), {
      gate: trustingGate,
    });
    const params = { name: "call_tool", arguments: { name: tool, arguments: {} }, _meta: META };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    return http.fetch(requestOf(call, { authorization: `ann ${scopes}`, ...headers }));
  };

  verifies("IN-62");
  it.each([
    ["read", "disputes_delete", "write"],
    ["read write", "departments_delete", "admin"],
    ["write admin", "disputes_list", "read"],
  ])("with the scopes %s, call_tool refuses %s: it needs %s", async (has, tool, needs) => {
    for (const headers of [MODERN, {}]) {
      const response = await post(has, tool, headers);
      expect(response.status).toBe(403);
      expect(response.headers.get("www-authenticate")).toContain(`scope="${needs}"`);
      await http.close();
    }
  });

  it("lets a call with the scope of the inner tool through", async () => {
    const response = await post("write", "disputes_delete", MODERN);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("invalid_request");
  });
});
