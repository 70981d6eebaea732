import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { getMessage } from "../../src/kit/error.ts";
import type { ToolResult, ToolSpec } from "./player.ts";

export const MODES = ["full", "core", "discovery"] as const;
export type Mode = (typeof MODES)[number];

const MODE_SETTINGS: Record<Mode, Record<string, string>> = {
  full: {},
  core: { RECEIVABLES_TOOLSETS: "core" },
  discovery: { RECEIVABLES_DISCOVERY: "true" },
};

const CLI = join(import.meta.dirname, "..", "..", "src", "bin", "cli.ts");
const CALL_MS = 120_000;

/** The server under test, as a host sees it. */
export type TestedServer = {
  tools: readonly ToolSpec[];
  instructions: string;
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolResult>;
  close(): Promise<void>;
};

const readText = (content: readonly unknown[]): string =>
  content.map((part) => (part as { text?: string }).text ?? "").join("\n");

/** Starts the server as the analyst. Questions before a change are answered with yes. */
export const startServer = async (
  settings: Record<string, string>,
  mode: Mode,
): Promise<TestedServer> => {
  const client = new Client(
    { name: "receivables-evals", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", () => ({
    action: "accept",
    content: { confirm: true },
  }));
  const env = { ...getDefaultEnvironment(), ...settings, ...MODE_SETTINGS[mode] };
  const transport = { command: process.execPath, args: [CLI, "stdio"], env };
  await client.connect(new StdioClientTransport({ ...transport, stderr: "inherit" }));
  const { tools } = await client.listTools();
  return {
    tools: tools.map(({ name, description = "", inputSchema }) => ({
      name,
      description,
      inputSchema,
    })),
    instructions: client.getInstructions() ?? "",
    async call(name, args, signal) {
      try {
        const params = { name, arguments: args };
        const reply = await client.callTool(params, { signal, timeout: CALL_MS });
        return { text: readText(reply.content), isError: reply.isError === true };
      } catch (error) {
        signal.throwIfAborted();
        return { text: getMessage(error), isError: true };
      }
    },
    close: () => client.close(),
  };
};
