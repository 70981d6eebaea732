import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import {
  type Benchmark,
  byCallers,
  interleaved,
  inTurn,
  type Options,
  type Samples,
} from "../measure.ts";
import { startServer } from "../server-process.ts";
import { makeDispute } from "../dispute.ts";

type Program = "ours" | "loop" | "sdk1";
type Said = { url: string; controlUrl: string };
type Spent = { cpuMs: number; heapMb: number };

/** A program in a process of its own, and what it has cost. */
type Running = { pool: Pool; path: string; spent(): Promise<Spent>; end(): Promise<void> };

const SERVER = fileURLToPath(new URL("server.ts", import.meta.url));
const TOOL = "disputes_get";
const DISPUTE = makeDispute(1);
const CALLERS = 32;
const CALLS_EACH = 20;

const start = async (program: Program, flags: string[] = []): Promise<Running> => {
  const server = await startServer([...flags, SERVER, program]);
  const { url, controlUrl } = server.said as Said;
  const { origin, pathname } = new URL(url);
  const [pool, control] = [new Pool(origin, { connections: CALLERS }), new Pool(controlUrl)];
  return {
    pool,
    path: pathname,
    async spent() {
      const { body } = await control.request({ path: "/", method: "GET" });
      return (await body.json()) as Spent;
    },
    async end() {
      await Promise.all([pool.close(), control.close()]);
      await server.stop();
    },
  };
};

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const JSON_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

type Era = "2025" | "2026";

const requestOf = (era: Era) => ({
  headers: {
    ...JSON_HEADERS,
    "mcp-protocol-version": era === "2026" ? "2026-07-28" : "2025-11-25",
    ...(era === "2026" ? { "mcp-method": "tools/call", "mcp-name": TOOL } : {}),
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: TOOL,
      arguments: { disputeId: DISPUTE.disputeId },
      ...(era === "2026" ? { _meta: META } : {}),
    },
  }),
});

const call = async ({ pool, path }: Running, era: Era): Promise<void> => {
  const { statusCode, body } = await pool.request({ path, method: "POST", ...requestOf(era) });
  const said = await body.text();
  if (statusCode !== 200 || !said.includes(DISPUTE.disputeCode)) throw new Error(said);
};

/** CPU time of the server for one call, in milliseconds. */
const cpuOf = async (running: Running, era: Era): Promise<number> => {
  const before = await running.spent();
  await byCallers(CALLERS, CALLS_EACH, () => call(running, era));
  const after = await running.spent();
  return (after.cpuMs - before.cpuMs) / (CALLERS * CALLS_EACH);
};

const against =
  (base: Program, era: Era) =>
  async (options: Options): Promise<Samples> => {
    const [ours, other] = await Promise.all([start("ours"), start(base)]);
    try {
      const sides = { ours: () => cpuOf(ours, "2026"), base: () => cpuOf(other, era) };
      return await interleaved(sides, { ...options, warmUp: 4 });
    } finally {
      await Promise.all([ours.end(), other.end()]);
    }
  };

const HELLO = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1.0.0" },
  },
};

/** One session of 2025 after the other; every second one is left behind without a word. */
const openSessions = ({ pool, path }: Running, count: number): Promise<void> =>
  inTurn(count, async (opened) => {
    const { headers, body } = await pool.request({
      path,
      method: "POST",
      headers: JSON_HEADERS,
      body: JSON.stringify(HELLO),
    });
    await body.dump();
    const id = headers["mcp-session-id"];
    if (typeof id !== "string") throw new Error("no session was opened");
    if (opened % 2 === 1) return;
    const session = { ...JSON_HEADERS, "mcp-session-id": id };
    await (await pool.request({ path, method: "DELETE", headers: session })).body.dump();
  });

const FEW = 2500;
const MANY = 10_000;

/** Measures the server's memory after a few sessions, and after many more. */
const heldAfter = async (): Promise<Samples> => {
  const running = await start("ours", ["--expose-gc"]);
  try {
    await openSessions(running, FEW);
    const few = await running.spent();
    await openSessions(running, MANY - FEW);
    const many = await running.spent();
    return { ours: [many.heapMb], base: [few.heapMb] };
  } finally {
    await running.end();
  }
};

export const doorBenchmarks: readonly Benchmark[] = [
  {
    name: "mcp-loop",
    about: `tools/call over HTTP, ${CALLERS} callers, a platform that answers at once / a bare JSON-RPC loop on node:http`,
    unit: "ms CPU",
    aim: 10,
    why: "by its profile, two thirds of a call are HTTP, the SDK, the schemas and garbage collection, which alone are 7 times the loop; the rest is authentication, limits, arguments, the client, fitting the answer to its budget and the log",
    run: against("loop", "2026"),
  },
  {
    name: "mcp-sdk1",
    about: "the same / the 1.x SDK without sessions, with as many tools",
    unit: "ms CPU",
    aim: 0.8,
    run: against("sdk1", "2025"),
  },
  {
    name: "mcp-sessions",
    about: `heap after ${MANY} sessions of 2025, one after the other, half of them left behind / after ${FEW}`,
    unit: "MB",
    aim: 1.1,
    run: heldAfter,
  },
];
