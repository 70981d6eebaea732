import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { measureMemory } from "../support/memory.ts";
import { dialects, type Dialect } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import {
  brokenRequests,
  CHUNKED,
  exchange,
  requestsTo,
  SILENCE,
  statusesIn,
  type Target,
} from "./broken-requests.ts";
import { message } from "./protocol-messages.ts";
import {
  MCP_TOKEN,
  type PublishedService,
  startPublishedService,
  TENANT,
} from "./published-service.ts";

const MEBIBYTE = 1024 * 1024;
/** The broken requests of a round have more than 300 KB together. */
const ROUNDS = 60;
const WARM_UP = 10;
/** A third of what leaks if each request of the rounds stays in memory. */
const MARGIN = 6 * MEBIBYTE;

const targetOf = (body: string, method: string, name: string): Target => ({
  host: "127.0.0.1",
  path: "/mcp",
  // Without a token, and with another host.
  answered: [401, 403],
  post: {
    path: "/mcp",
    headers: [
      `Authorization: Bearer ${MCP_TOKEN}`,
      "Accept: application/json, text/event-stream",
      "MCP-Protocol-Version: 2026-07-28",
      `Mcp-Method: ${method}`,
      ...(name === "" ? [] : [`Mcp-Name: ${name}`]),
    ],
    body,
  },
});

const LIST = targetOf(message(1, "2026", "tools/list", "{}"), "tools/list", "");
const LENGTH = `Content-Length: ${LIST.post.body.length}`;
const BROKEN = brokenRequests(LIST);
const { post } = requestsTo(LIST);

const createDepartment = (code: string): Target => {
  const name = "departments_create";
  const args = JSON.stringify({ code, description: code });
  const params = `{"name":"${name}","arguments":${args}}`;
  return targetOf(message(1, "2026", "tools/call", params), "tools/call", name);
};

describe("bytes from the network to the MCP server", () => {
  let service: PublishedService;
  beforeAll(async () => {
    service = await startPublishedService(dialects[0] as Dialect);
  });
  afterAll(() => service.close());

  const send = (text: string, how?: { isCut: boolean }): Promise<string> =>
    exchange(Number(new URL(service.mcpUrl).port), text, how);
  const listTools = async (): Promise<void> => {
    const heard = await send(post([LENGTH], LIST.post.body));
    expect(statusesIn(heard)).toEqual([200]);
    expect(heard).toContain("departments_create");
  };
  const departments = async (): Promise<string> => {
    const headers = service.credentials;
    return (await service.ask("GET", `/dispute/v1/tenants/${TENANT}/departments`, { headers }))
      .text;
  };

  verifies("C-41", "C-55", "C-57");
  it.each(BROKEN)(
    "%s gets an allowed response, and the next request its own",
    async (_what, text, allowed) => {
      const heard = await send(text);
      const statuses = statusesIn(heard);
      for (const status of statuses) expect(allowed, heard.slice(0, 500)).toContain(status);
      const answers = statuses.filter((status) => status >= 200);
      expect(answers.length).toBeLessThanOrEqual(1);
      if (!allowed.includes(SILENCE)) expect(answers.length, "an answer").toBe(1);
      expect(heard.toLowerCase()).not.toContain("x-injected");
      expect(heard).not.toMatch(/node_modules|at .*\.ts:/);
      await listTools();
    },
  );

  verifies("C-57");
  it("never takes the rest of a body for a request", async () => {
    const hidden = post([LENGTH], LIST.post.body);
    const kept = post([`Content-Length: ${hidden.length}`], hidden).replace(
      "Connection: close\r\n",
      "",
    );
    expect(statusesIn(await send(kept))).toEqual([400]);
  });

  verifies("C-57");
  it("calls no tool for a body that is cut off", async () => {
    const { body } = createDepartment("CUT").post;
    const { post: create } = requestsTo(createDepartment("CUT"));
    const size = body.length.toString(16);
    for (const text of [
      create([`Content-Length: ${body.length + 1}`], body),
      create([CHUNKED], `${size}\r\n${body}\r\n`),
      create([CHUNKED], `${size}\r\n${body}\r\n5\r\n`),
      create([`Content-Length: ${body.length}`], body.slice(0, -1)),
    ]) {
      expect(statusesIn(await send(text, { isCut: true }))).not.toContain(200);
      expect(statusesIn(await send(text))).not.toContain(200);
    }
    await listTools();
    expect(await departments()).not.toContain("CUT");
    const whole = create([`Content-Length: ${body.length}`], body);
    expect(statusesIn(await send(whole))).toEqual([200]);
    expect(await departments()).toContain("CUT");
  });

  verifies("C-41", "C-57");
  it("keeps no memory of them", { timeout: 4 * MINUTE }, async () => {
    const sendAll = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all(BROKEN.map(([, text]) => send(text)));
      }
    };
    await sendAll(WARM_UP);
    const before = await measureMemory(service.running);
    await sendAll(ROUNDS);
    const after = await measureMemory(service.running);

    expect(after.heapUsed - before.heapUsed).toBeLessThan(MARGIN);
    expect(after.external - before.external).toBeLessThan(MARGIN);
    await listTools();
  });
});
