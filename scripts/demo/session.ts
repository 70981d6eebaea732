import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import { page, ResourceText } from "./records.ts";
import type { Call, Transcript } from "./transcript.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** A host's session with the server, as a script uses it: a refusal is an error, an answer is what its schema says. */
export type Session = {
  server: { name: string; version: string; protocol: string; tools: number };
  call<T>(tool: string, args: Record<string, unknown>, answer: z.ZodType<T>): Promise<T>;
  /** All items of a list, followed by its cursors. */
  all<T>(tool: string, args: Record<string, unknown>, item: z.ZodType<T>): Promise<Pages<T>>;
  read(uri: string): Promise<string>;
  /** Every call so far, in order. */
  calls: readonly Call[];
  close(): Promise<void>;
};

export type Pages<T> = { items: T[]; pages: number };

type Needs = {
  dataFolder: string;
  out: Transcript;
  /** Answers a confirmation in the person's place. */
  confirm: (question: string) => boolean;
};

const Problem = z.object({ code: z.string(), message: z.string(), nextStep: z.string() });

const refusal = (tool: string, result: { _meta?: Record<string, unknown> | undefined }): Error => {
  const { data } = Problem.safeParse(result._meta?.["receivables/problem"]);
  return new Error(
    data === undefined
      ? `${tool} failed`
      : `${tool}: ${data.code}: ${data.message} ${data.nextStep}`,
  );
};

const Listed = z.object({
  items: z.array(z.unknown()),
  total: z.int().nullable(),
  nextCursor: z.string().nullable(),
});
const Exported = z.object({ data: z.array(z.unknown()) });

const outcomeOf = (structured: unknown): string => {
  const { data: exported } = Exported.safeParse(structured);
  if (exported !== undefined) return `${exported.data.length} rows`;
  const { data: list } = Listed.safeParse(structured);
  if (list === undefined) return "done";
  const rows = list.total === null ? "" : ` of ${list.total}`;
  return `${list.items.length}${rows}${list.nextCursor === null ? "" : ", more behind the cursor"}`;
};

const startServer = (dataFolder: string): StdioClientTransport =>
  new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, "src", "bin", "cli.ts"), "stdio"],
    env: { ...getDefaultEnvironment(), RECEIVABLES_DATA: dataFolder, RECEIVABLES_LOG: "warn" },
    stderr: "inherit",
  });

const Version = z.object({ name: z.string(), version: z.string() });

const serverOf = async (client: Client): Promise<Session["server"]> => {
  const { name, version } = Version.parse(client.getServerVersion());
  const { tools } = await client.listTools();
  return {
    name,
    version,
    protocol: client.getNegotiatedProtocolVersion() ?? "",
    tools: tools.length,
  };
};

/** Starts the server on a data folder and connects to it as a host does. */
export const openSession = async ({ dataFolder, out, confirm }: Needs): Promise<Session> => {
  const client = new Client(
    { name: "receivables-demo", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const yes = confirm(params.message);
    out.quote("The server asks:", params.message);
    out.say(yes ? "The person answers: yes." : "The person answers: no.");
    return { action: yes ? "accept" : "decline", content: { confirm: yes } };
  });
  await client.connect(startServer(dataFolder)).catch((error: unknown) => {
    throw new Error("the server did not start; it says why above", { cause: error });
  });
  const calls: Call[] = [];

  const call: Session["call"] = async (tool, args, answer) => {
    calls.push({ tool, arguments: args });
    const result = await client.callTool({ name: tool, arguments: args });
    if (result.isError === true) throw refusal(tool, result);
    out.called({ tool, arguments: args }, outcomeOf(result.structuredContent));
    return answer.parse(result.structuredContent);
  };

  const all: Session["all"] = async (tool, args, item) => {
    let { items, nextCursor } = await call(tool, args, page(item));
    const found = [...items];
    let pages = 1;
    while (nextCursor !== null) {
      ({ items, nextCursor } = await call(tool, { ...args, cursor: nextCursor }, page(item)));
      found.push(...items);
      pages += 1;
    }
    return { items: found, pages };
  };

  return {
    server: await serverOf(client),
    call,
    all,
    calls,
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      const { text } = ResourceText.parse(contents[0]);
      out.called({ tool: "resources/read", arguments: { uri } }, `${text.length} characters`);
      return text;
    },
    close: () => client.close(),
  };
};
