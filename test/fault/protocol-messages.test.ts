import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { type Running, startCli } from "../support/cli.ts";
import { logOf, measureMemory, type Memory } from "../support/memory.ts";
import type { Reply } from "../support/platform.ts";
import { dialects, type Dialect } from "../support/stores.ts";
import { verifies } from "../support/verifies.ts";
import { JUNK, message, type Message, requests } from "./protocol-messages.ts";
import { MCP_TOKEN, type PublishedService, startPublishedService } from "./published-service.ts";
import type { Schema } from "./values.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
/** In each protocol: 2,000 over each transport. */
const MESSAGES = 1000;
/** After so many, code is compiled and caches are full. */
const WARM_UP = 400;
const MEBIBYTE = 1024 * 1024;
/** 600 further messages that each keep 20 KiB would exceed it. */
const MARGIN: Memory = { heapUsed: 12 * MEBIBYTE, external: 12 * MEBIBYTE, rss: 128 * MEBIBYTE };
/** Repetitions with long messages, and how many of them warm up. One message of each that stays exceeds the margin. */
const [LONG_MESSAGES, LONG_WARM_UP] = [12, 4];
/** Before the answer to one message is missing. */
const DEADLINE_MS = 20_000;

type Era = "2025" | "2026";
type Answer = { id?: unknown; result?: unknown; error?: { code: number; message: string } };

/** Codes of JSON-RPC and of the protocol. */
const CODES = [-32_700, -32_600, -32_601, -32_602, -32_000, -32_001, -32_020, -32_021, -32_022];
const INSIDE = /node_modules|\.ts:\d|SQLITE|constraint failed|pg_|select \*/;

const faultsIn = (text: string, { id, result, error }: Answer, asked: number | null): string[] => [
  ...(id === asked ? [] : [`the answer has the id ${String(id)}`]),
  ...((result === undefined) === (error === undefined) ? ["neither result nor error"] : []),
  ...(error === undefined || CODES.includes(error.code) ? [] : [`the code is ${error.code}`]),
  ...(INSIDE.test(text) ? ["it shows what is inside"] : []),
];

const isJson = (text: string): boolean => {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
};

const checkMemory = (before: Memory, after: Memory): void => {
  for (const kind of ["heapUsed", "external", "rss"] as const) {
    expect(after[kind] - before[kind], kind).toBeLessThan(MARGIN[kind]);
  }
};

const INITIALIZE =
  '{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}';
const padded = (era: Era, bytes: number): string =>
  message(5, era, era === "2025" ? "ping" : "tools/list", `{"padding":"${"x".repeat(bytes)}"}`);
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

let service: PublishedService;
let tools: { name: string; inputSchema: Schema }[];

/** The server over stdio, with one request at a time. */
const overStdio = (env: Record<string, string>) => {
  const running = startCli([], env);
  let taken = 0;
  const next = async (): Promise<string> => {
    for (const since = performance.now(); ;) {
      const end = running.texts.stdout.indexOf("\n", taken);
      if (end !== -1) {
        const line = running.texts.stdout.slice(taken, end);
        taken = end + 1;
        return line;
      }
      if (performance.now() - since > DEADLINE_MS || running.hasEnded()) {
        throw new Error(`no answer: ${running.texts.stderr.slice(-2000)}`);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  };
  const say = (text: string): void => void running.stdin.write(`${text}\n`);
  return { running, next, say };
};

/** The same after the handshake of its protocol. */
const openStdio = async (env: Record<string, string>, era: Era) => {
  const opened = overStdio(env);
  if (era === "2025") {
    opened.say(`${INITIALIZE}\n${INITIALIZED}`);
    await opened.next();
  }
  return opened;
};

beforeAll(async () => {
  service = await startPublishedService(dialects[0] as Dialect);
  await service.reseed();
  const { running, next, say } = overStdio(service.env);
  say(INITIALIZE);
  await next();
  say('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  ({ tools } = JSON.parse(await next()).result);
  await running.end("stdin");
});
afterAll(() => service.close());

const generated = (era: Era): Message[] =>
  fc
    .sample(requests(tools, era), { seed: SEED, numRuns: MESSAGES })
    .map((make, index) => make(index + 1));

const errorsOf = (running: Running): string[] =>
  logOf(running).filter((line) => line.includes('"level":"error"'));

describe.each<Era>(["2025", "2026"])("messages over stdio in the protocol of %s", (era) => {
  verifies("C-41", "C-78");
  it(
    `get an answer each, between lines that are none (FAULT_SEED=${SEED})`,
    { timeout: 10 * MINUTE },
    async () => {
      const { running, next, say } = await openStdio(service.env, era);
      let before: Memory | undefined;
      const faults: string[] = [];
      let results = 0;
      for (const [index, { text }] of generated(era).entries()) {
        if (index === WARM_UP) before = await measureMemory(running);
        const isOne = isJson(text);
        if (isOne && index % 5 === 0) say(JUNK[(index / 5) % JUNK.length] ?? "");
        say(text);
        let line = await next();
        // A line that is no message may have an answer of its own, before.
        if (isOne) while (!line.includes(`"id":${index + 1}`)) line = await next();
        const answer = JSON.parse(line) as Answer;
        if (answer.result !== undefined) results += 1;
        const found = faultsIn(line, answer, isOne || answer.id !== null ? index + 1 : null);
        faults.push(
          ...found.map((fault) => `${fault}: ${text.slice(0, 500)} -> ${line.slice(0, 500)}`),
        );
      }
      expect(faults).toEqual([]);
      expect(results).toBeGreaterThan(MESSAGES / 2);
      if (before === undefined) throw new Error("the memory was not measured");
      checkMemory(before, await measureMemory(running));
      expect(errorsOf(running)).toEqual([]);
      expect((await running.end("stdin")).status).toBe(0);
    },
  );

  verifies("C-41");
  it(
    "of more than 10 MiB are refused alone, and leave no memory in use",
    { timeout: 2 * MINUTE },
    async () => {
      const { running, next, say } = await openStdio(service.env, era);
      const ping = message(7, era, era === "2025" ? "ping" : "tools/list", "{}");
      let before: Memory | undefined;
      for (let index = 0; index < LONG_MESSAGES; index += 1) {
        if (index === LONG_WARM_UP) before = await measureMemory(running);
        say(padded(era, 9 * MEBIBYTE));
        expect(JSON.parse(await next())).toMatchObject({ id: 5 });
        say(padded(era, (index % 2 === 0 ? 10 : 30) * MEBIBYTE));
        expect(JSON.parse(await next())).toMatchObject({ id: 5, error: { code: -32_600 } });
        say(ping);
        expect(JSON.parse(await next())).toMatchObject({ id: 7 });
      }
      if (before === undefined) throw new Error("the memory was not measured");
      checkMemory(before, await measureMemory(running));
      running.stdin.write(Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0x0a]));
      expect(JSON.parse(await next())).toMatchObject({ id: null, error: { code: -32_700 } });
      say(ping);
      expect(JSON.parse(await next())).toMatchObject({ id: 7 });
      expect(logOf(running).filter((line) => line.includes("mcp.line_too_long"))).toHaveLength(
        LONG_MESSAGES,
      );
      // A host that leaves in the middle of a line.
      running.stdin.write('{"jsonrpc":"2.0","id":8,"met');
      expect((await running.end("stdin")).status).toBe(0);
    },
  );
});

describe.each<Era>(["2025", "2026"])("messages over HTTP in the protocol of %s", (era) => {
  const headers: Record<string, string> = {
    Authorization: `Bearer ${MCP_TOKEN}`,
    Accept: "application/json, text/event-stream",
  };
  const post = (raw: string, more: Record<string, string> = {}): Promise<Reply> =>
    service.ask("POST", "/mcp", { raw, headers: { ...headers, ...more } });

  /** Sends a body without its length. */
  const postInChunks = async (raw: string, more: Record<string, string>): Promise<number> => {
    const response = await fetch(service.mcpUrl, {
      method: "POST",
      headers: { ...headers, ...more, "Content-Type": "application/json" },
      body: new Blob([raw]).stream(),
      duplex: "half",
    });
    await response.text();
    return response.status;
  };

  /** The JSON of an answer, which may come as an event. */
  const read = ({ text }: Reply): Answer => {
    const event = /^data: (\{.*)$/m.exec(text)?.[1];
    return JSON.parse(event ?? text) as Answer;
  };

  const open = async (): Promise<Record<string, string>> => {
    if (era === "2026") return { "MCP-Protocol-Version": "2026-07-28" };
    const opened = await post(INITIALIZE);
    const session = { "Mcp-Session-Id": opened.headers.get("mcp-session-id") ?? "" };
    expect((await post(INITIALIZED, session)).status).toBe(202);
    return session;
  };

  verifies("C-41", "C-68", "C-78");
  it(
    `get an answer each, and none with a status of 500 or more (FAULT_SEED=${SEED})`,
    { timeout: 10 * MINUTE },
    async () => {
      const own = await open();
      const faults: string[] = [];
      let before: Memory | undefined;
      let results = 0;
      for (const [index, { text, method, name }] of generated(era).entries()) {
        if (index === WARM_UP) before = await measureMemory(service.running);
        const named = era === "2026" ? { "Mcp-Method": method, "Mcp-Name": name } : {};
        const reply = await post(text, { ...own, ...named });
        if (![200, 202, 400, 404].includes(reply.status)) {
          faults.push(`${reply.status}: ${text.slice(0, 500)} -> ${reply.text.slice(0, 300)}`);
          continue;
        }
        const answer = read(reply);
        if (answer.result !== undefined) results += 1;
        if (index % 5 === 0) {
          const junk = await post(JUNK[(index / 5) % JUNK.length] ?? "", own);
          if (junk.status >= 500) faults.push(`${junk.status}: ${junk.text}`);
        }
        // A body that is no message is refused as a whole.
        const asked = reply.status === 400 && answer.id === null ? null : index + 1;
        const found = faultsIn(reply.text, answer, asked);
        faults.push(
          ...found.map((fault) => `${fault}: ${text.slice(0, 500)} -> ${reply.text.slice(0, 500)}`),
        );
      }
      expect(faults).toEqual([]);
      expect(results).toBeGreaterThan(MESSAGES / 2);
      if (before === undefined) throw new Error("the memory was not measured");
      checkMemory(before, await measureMemory(service.running));
      expect(errorsOf(service.running)).toEqual([]);
    },
  );

  verifies("C-41");
  it("of more than 4 MiB are refused with 413, and leave no memory in use", async () => {
    const own = await open();
    const named = era === "2026" ? { "Mcp-Method": "tools/list" } : {};
    const headers = { ...own, ...named };
    const list = message(7, era, "tools/list", "{}");
    let before: Memory | undefined;
    for (let index = 0; index < LONG_MESSAGES; index += 1) {
      if (index === LONG_WARM_UP) before = await measureMemory(service.running);
      expect((await post(padded(era, 10 * MEBIBYTE), headers)).status).toBe(413);
      expect(await postInChunks(padded(era, 10 * MEBIBYTE), headers)).toBe(413);
      expect((await post(padded(era, 3 * MEBIBYTE), headers)).status).toBe(200);
      expect((await post(list, headers)).status).toBe(200);
    }
    if (before === undefined) throw new Error("the memory was not measured");
    checkMemory(before, await measureMemory(service.running));
  });
});
