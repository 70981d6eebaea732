import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** The least that answers a host: JSON lines in, JSON lines out, with a list of tools that was made before. */
const tools: unknown = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));

const INITIALIZED = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "loop", version: "1.0.0" },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line) as { id?: number; method: string };
  if (id === undefined) return;
  const result = method === "tools/list" ? { tools } : INITIALIZED;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
});
