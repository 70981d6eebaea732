import { onTestFinished, type RunnerTestCase, TestRunner } from "vitest";
import { Client, type ElicitResult } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Broker } from "../../src/broker/port.ts";
import type { Transfers } from "../../src/client/transfers.ts";
import { createLog, silentLog } from "../../src/kit/log.ts";
import { type Caller, SCOPES } from "../../src/mcp/caller.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Settings } from "../../src/config/settings.ts";
import { createOpenGate } from "../../src/mcp/http/gate.ts";
import type { ToolContext } from "../../src/mcp/tools/tool-context.ts";
import { createBuildServer, type ServerOptions } from "../../src/mcp/server.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import { replayFolder } from "./replay-folder.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { sharedValidators } from "../support/shared-validators.ts";

/** The protocol of both eras, and how a client negotiates it. */
export const ERAS = [
  ["2026", "auto"],
  ["2025", "legacy"],
] as const;

/** Returns the settings for a value of `RECEIVABLES_TOOLSETS`. */
export const settingsOf = (toolsets: string) =>
  readConfig({
    env: { RECEIVABLES_TOOLSETS: toolsets },
    readFile: () => "",
    dataFolder: "/data",
  }).mcp;

export type Reply = ElicitResult | Error;
/** The person's answer to a question; without it the host cannot ask. */
export type Person = (question: string) => Reply | Promise<Reply>;

/** The person's reaction to a page that the host opens; without it the host cannot open pages. */
export type Browser = (url: string, message: string) => Reply | Promise<Reply>;

export const YES: Person = () => ({ action: "accept", content: { confirm: true } });

export const NOW = Date.UTC(2026, 10, 20, 12);
export const KEY = Buffer.alloc(32, 7);

export const ALL: Settings = {
  toolsets: toolsetNames,
  readOnly: false,
  confirm: "token",
  answerTokens: 20_000,
  callsPerMinute: 0,
};

const NO_TRANSFERS: Transfers = {
  put: () => Promise.reject(new Error("unexpected upload")),
  get: () => Promise.reject(new Error("unexpected download")),
};

export type Setup = Partial<Omit<ToolContext, "settings">> & { settings?: Partial<Settings> };

/** The options of a server together with the context of its calls. */
export const createOptions = async (
  broker: Broker,
  setup: Setup = {},
): Promise<ServerOptions & ToolContext> => {
  const { settings, ...rest } = setup;
  const needs = {
    caller: "person-1",
    broker,
    key: KEY,
    replayGuard: createReplayFolder(await replayFolder(), () => NOW),
    callLog: { record: async () => {} },
    log: silentLog,
    now: () => NOW,
    version: "1.2.3",
    transfers: NO_TRANSFERS,
    uploadFolders: [],
    ...rest,
    settings: { ...ALL, ...settings },
  };
  return { ...needs, open: async () => needs };
};

export const createCaller = (id: string, more: Partial<Caller> = {}): Caller => ({
  id,
  client: "client-1",
  grant: "grant-1",
  scopes: SCOPES,
  profile: "default",
  ...more,
});

/** Options of a server that admits every request as one caller. */
export const OPEN = { gate: createOpenGate(createCaller("person-1")) };

/** Creates a log that stores its lines. */
export const createLineLog = () => {
  const lines: string[] = [];
  return {
    lines,
    log: createLog(
      "debug",
      (line) => lines.push(line),
      () => NOW,
    ),
  };
};

type Fields = Record<string, unknown>;

export type Result = {
  isError?: boolean | undefined;
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
};

/** The functions of a host that tests use, the same for every SDK and era. */
export type Host = {
  name: string;
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
  client: Client;
  close(): Promise<void>;
};

const info = { name: "test-host", version: "1.0.0" };

type Asked = { message: string; mode?: string | undefined; url?: unknown };

const answer = async (
  { message, mode, url }: Asked,
  person: Person | undefined,
  browser: Browser | undefined,
): Promise<ElicitResult> => {
  const reply = mode === "url" ? await browser?.(String(url), message) : await person?.(message);
  if (reply === undefined) throw new Error("asked what it said it cannot be asked");
  if (reply instanceof Error) throw reply;
  return reply;
};

const capabilitiesOf = (person: Person | undefined, browser: Browser | undefined) => {
  if (person === undefined && browser === undefined) return {};
  return {
    elicitation: {
      ...(person === undefined ? {} : { form: {} }),
      ...(browser === undefined ? {} : { url: {} }),
    },
  };
};

const serve = (needs: ServerOptions): InMemoryTransport => {
  const build = createBuildServer(needs);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  serveStdio((context) => build(context), { transport: ours });
  return theirs;
};

/** Ends a host with the test that connects it. A hook ends one that it connects for several tests. */
const endWithTest = (host: Host): Host => {
  if (TestRunner.getCurrentTest<RunnerTestCase | undefined>() !== undefined) {
    onTestFinished(host.close);
  }
  return host;
};

const newHost = async (
  needs: ServerOptions,
  mode: "legacy" | "auto",
  person: Person | undefined,
  browser: Browser | undefined,
): Promise<Host> => {
  const capabilities = capabilitiesOf(person, browser);
  const client = new Client(info, {
    capabilities,
    jsonSchemaValidator: sharedValidators,
    versionNegotiation: { mode },
  });
  if ("elicitation" in capabilities) {
    client.setRequestHandler("elicitation/create", ({ params }) => answer(params, person, browser));
  }
  await client.connect(serve(needs));
  await client.listTools();
  return endWithTest({
    name: `2.x client, ${mode}`,
    client,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result,
    close: () => client.close(),
  });
};

/** A host on the 2.x SDK that speaks the protocol of 2026. */
export const connectModern = (needs: ServerOptions, person?: Person, browser?: Browser) =>
  newHost(needs, "auto", person, browser);

/** A host on the 2.x SDK that speaks the protocol of 2025. */
export const connectLegacy = (needs: ServerOptions, person?: Person, browser?: Browser) =>
  newHost(needs, "legacy", person, browser);

/** A host on the 1.x SDK, which checks structured content against what it listed. */
export const connectOldSdk = async (
  needs: ServerOptions,
  person?: Person,
  browser?: Browser,
): Promise<Host> => {
  const capabilities = capabilitiesOf(person, browser);
  const client = new OldClient(info, { capabilities });
  if ("elicitation" in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params, person, browser));
  }
  await client.connect(serve(needs));
  await client.listTools();
  return endWithTest({
    name: "1.x client",
    client: client as unknown as Client,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result,
    close: () => client.close(),
  });
};

export const HOSTS = [
  ["2.x client, 2026", connectModern],
  ["2.x client, 2025", connectLegacy],
  ["1.x client", connectOldSdk],
] as const;

/** Returns the structured content of a result without what comes before the data. */
export const withoutAbout = (result: { structuredContent?: unknown }): Fields => {
  const { about: _said, ...data } = (result.structuredContent ?? {}) as Fields;
  return data;
};

export const readText = (result: Result): string =>
  result.content.map(({ text }) => text ?? "").join("\n");

/** Returns the data of a text part without its frame. */
export const readFramedData = (result: Result): unknown => {
  const [, mark, json] = /<(data-[\w-]+)>\n([\s\S]*)\n<\/data-/.exec(readText(result)) ?? [];
  if (!readText(result).includes(`</${mark}>`)) throw new Error("the frame is not closed");
  return JSON.parse(json ?? "");
};

export type ShownProblem = {
  code: string;
  message: string;
  nextStep: string;
  status: number;
  retryAfterSeconds?: number;
  fields?: { field: string; message: string }[];
  requestId?: string;
};

export const readProblem = (result: Result): ShownProblem =>
  result._meta?.["receivables/problem"] as ShownProblem;

/** A host's name, and the capabilities of one that can ask. */
type RawOptions = { name?: string; elicitation?: object };

/** Sends single messages of the protocol of 2026, as a hostile host can. */
export const connectRaw = async (
  needs: ServerOptions,
  { name = info.name, elicitation = { elicitation: { form: {} } } }: RawOptions = {},
) => {
  const wire = serve(needs);
  const waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  wire.onmessage = (message) => {
    if ("id" in message && typeof message.id === "number" && !("method" in message)) {
      waiting.get(message.id)?.(message);
    }
  };
  await wire.start();
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { ...info, name },
    "io.modelcontextprotocol/clientCapabilities": elicitation,
  };
  let id = 0;
  return {
    request: (method: string, params: Record<string, unknown>) =>
      new Promise<{ result?: unknown; error?: unknown }>((resolve, reject) => {
        id += 1;
        waiting.set(id, resolve);
        wire.send({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } }).catch(reject);
      }),
    close: () => wire.close(),
  };
};

/** Connects a host of 2026 whose person agrees to a server over a broker with scripted responses. */
export const connectScripted = async (
  replies: Record<string, ScriptedReply>,
  setup: Setup = {},
  person: Person = YES,
) => {
  const broker = scriptBroker(replies);
  return { broker, host: await connectModern(await createOptions(broker, setup), person) };
};
