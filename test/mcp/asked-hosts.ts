import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createHttpServer, type HttpServer } from "../../src/mcp/http/http-server.ts";
import { createBuildServer } from "../../src/mcp/server.ts";
import { VIEW_TYPE } from "../../src/views/views.ts";
import { type createOptions, type Person, type Result, ERAS } from "./hosts.ts";
import { ADDRESS } from "./messages.ts";
import { sharedValidators } from "../support/shared-validators.ts";
import { trustingGate } from "./trusting-gate.ts";

export type Options = Awaited<ReturnType<typeof createOptions>>;

/** A host by the ways in which it can ask a person. */
export type AskedHost = {
  mode: "auto" | "legacy";
  /** The person before the host's forms; without it the host has none. */
  person?: Person | undefined;
  showsViews?: boolean;
  name?: string;
  /** Over HTTP: who calls, as `trustingGate` reads it. */
  who?: string;
};

const SHOWS = { "io.modelcontextprotocol/ui": { mimeTypes: [VIEW_TYPE] } };

const createClient = ({ mode, person, showsViews, name = "host" }: AskedHost): Client => {
  const client = new Client(
    { name, version: "1" },
    {
      capabilities: {
        ...(person === undefined ? {} : { elicitation: { form: {} } }),
        ...(showsViews === true ? { extensions: SHOWS } : {}),
      },
      jsonSchemaValidator: sharedValidators,
      versionNegotiation: { mode },
    },
  );
  if (person !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const reply = await person(params.message);
      if (reply instanceof Error) throw reply;
      return reply;
    });
  }
  return client;
};

export type Connected = {
  client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
  close(): Promise<void>;
};

const toConnected = async (client: Client, end?: () => Promise<void>): Promise<Connected> => {
  // The client checks structured content against the schemas that it listed.
  await client.listTools();
  return {
    client,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result,
    async close() {
      await client.close();
      await end?.();
    },
  };
};

const overStdio = async (options: Options, host: AskedHost): Promise<Connected> => {
  const build = createBuildServer(options);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  serveStdio((context) => build(context), { transport: ours });
  const client = createClient(host);
  await client.connect(theirs);
  return toConnected(client);
};

/** Connects a host to a server over HTTP. */
export const openSession = async (
  http: Pick<HttpServer, "fetch">,
  host: AskedHost,
  end?: () => Promise<void>,
): Promise<Connected> => {
  const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    request.headers.set("host", "127.0.0.1:8765");
    request.headers.set("authorization", `${host.who ?? "ann@one"} read write admin`);
    return http.fetch(request);
  };
  const client = createClient(host);
  await client.connect(new StreamableHTTPClientTransport(new URL(ADDRESS), { fetch }));
  return toConnected(client, end);
};

const overHttp = async (options: Options, host: AskedHost): Promise<Connected> => {
  const http = createHttpServer(options, { gate: trustingGate });
  return openSession(http, host, () => http.close());
};

/** Both transports and both eras. */
export const ASKED_HOSTS = ERAS.flatMap(([era, mode]) => [
  [`stdio, ${era}`, mode, overStdio] as const,
  [`HTTP, ${era}`, mode, overHttp] as const,
]);
