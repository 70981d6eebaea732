import type { CallArguments } from "../../src/contract/operation.ts";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";

const ROOT = join(import.meta.dirname, "..", "..");

/** A tool call, and the o200k tokens of its reply's text. */
export type Call = { tool: string; arguments: Record<string, unknown>; tokens: number };

/** A question that the server asked the person before a change. */
export type Confirmation = { question: string; confirmed: boolean };

/** A host's connection to the server, which records every call. */
export type Session = {
  server: { name: string; version: string; protocol: string; tools: number };
  /**
   * Calls a tool and returns its structured result.
   *
   * @throws {Error} if the tool fails; the message has the problem's code and next step
   */
  call<T>(tool: string, args: CallArguments, result: z.ZodType<T>): Promise<T>;
  /** Returns the calls and confirmations since the last call of this function. */
  takeRecords(): { calls: Call[]; confirmations: Confirmation[] };
  close(): Promise<void>;
};

const Problem = z.object({ code: z.string(), message: z.string(), nextStep: z.string() });
const Text = z.object({ type: z.literal("text"), text: z.string() });
const Version = z.object({ name: z.string(), version: z.string() });

const describeFailure = (tool: string, meta: Record<string, unknown> | undefined): string => {
  const { data } = Problem.safeParse(meta?.["receivables/problem"]);
  return data === undefined
    ? `${tool} failed`
    : `${tool}: ${data.code}: ${data.message} ${data.nextStep}`;
};

const countReplyTokens = (content: readonly unknown[]): number =>
  content
    .map((part) => Text.safeParse(part).data?.text ?? "")
    .reduce((sum, text) => sum + countTokens(text), 0);

const startServer = (dataFolder: string): StdioClientTransport =>
  new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, "src", "bin", "cli.ts"), "stdio"],
    env: { ...getDefaultEnvironment(), RECEIVABLES_DATA: dataFolder, RECEIVABLES_LOG: "warn" },
    stderr: "inherit",
  });

/** Starts the server on a data folder and connects to it as a host does; the person confirms every change. */
export const openSession = async (dataFolder: string): Promise<Session> => {
  const client = new Client(
    { name: "receivables-demo", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  let calls: Call[] = [];
  let confirmations: Confirmation[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    confirmations.push({ question: params.message, confirmed: true });
    return { action: "accept", content: { confirm: true } };
  });
  await client.connect(startServer(dataFolder));
  const { tools } = await client.listTools();
  return {
    server: {
      ...Version.parse(client.getServerVersion()),
      protocol: client.getNegotiatedProtocolVersion() ?? "",
      tools: tools.length,
    },
    async call(tool, args, result) {
      const reply = await client.callTool({ name: tool, arguments: args });
      if (reply.isError === true) throw new Error(describeFailure(tool, reply._meta));
      calls.push({ tool, arguments: args, tokens: countReplyTokens(reply.content) });
      return result.parse(reply.structuredContent);
    },
    takeRecords() {
      const records = { calls, confirmations };
      [calls, confirmations] = [[], []];
      return records;
    },
    close: () => client.close(),
  };
};
