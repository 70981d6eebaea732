import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { readCpuMsOf, readMemoryMibOf } from "../process.ts";

export type Command = { args: readonly string[]; env: Record<string, string> };

export type Era = "2025" | "2026";

/** A host that waits for each answer before it goes on, and reads it only when asked to. */
export type Host = {
  /** The answer's line, unread. */
  request(method: string, params?: Record<string, unknown>): Promise<string>;
  /** CPU time of the process so far, in all its threads. */
  cpuMs(): number;
  /** Memory that the process occupies. */
  memoryMib(): number;
  end(): Promise<void>;
};

const CLIENT = { name: "bench", version: "1.0.0" };

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

const INITIALIZE = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT };

const NEWLINE = 10;
const MOST_END_MS = 5000;

/** An answer has a result or an error; what a server says unasked has a method, at its beginning. */
const ANSWER = /^(?!.{0,20}"method":).*\n/m;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** One answer of the child at a time. */
const lineReader = (child: Child): (() => Promise<string>) => {
  let chunks: Buffer[] = [];
  let take: (line: string) => void = () => {};
  let fail: (error: Error) => void = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (chunk.at(-1) !== NEWLINE) return;
    const [answer] = ANSWER.exec(Buffer.concat(chunks).toString("utf8")) ?? [];
    chunks = [];
    if (answer !== undefined) take(answer);
  });
  child.once("close", (status) => fail(new Error(`the server ended with ${status}`)));
  return () =>
    new Promise((resolve, reject) => {
      take = resolve;
      fail = reject;
    });
};

export const startHost = ({ args, env }: Command, era: Era = "2025"): Host => {
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  const line = lineReader(child);
  let id = 0;
  const send = (message: Record<string, unknown>): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  return {
    async request(method, params = {}) {
      id += 1;
      const all = era === "2026" ? { ...params, _meta: META } : params;
      const answer = line();
      send({ id, method, params: all });
      const text = await answer;
      // As a host of 2025 does, at once and without waiting.
      if (method === "initialize") send({ method: "notifications/initialized" });
      return text;
    },
    cpuMs: () => readCpuMsOf(child.pid ?? 0),
    memoryMib: () => readMemoryMibOf(child.pid ?? 0),
    async end() {
      const closed = once(child, "close");
      child.stdin.end();
      const kill = setTimeout(() => child.kill("SIGKILL"), MOST_END_MS);
      await closed;
      clearTimeout(kill);
    },
  };
};

/** Sends the first request of a host. */
export const greet = (host: Host, era: Era = "2025"): Promise<string> =>
  era === "2025" ? host.request("initialize", INITIALIZE) : host.request("server/discover");

/** The result in an answer's line; throws where there is none. */
export const resultIn = (line: string): Record<string, unknown> => {
  const { result, error } = JSON.parse(line) as {
    result?: Record<string, unknown>;
    error?: unknown;
  };
  if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`);
  return result;
};
