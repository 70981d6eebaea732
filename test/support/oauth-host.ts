import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { UnauthorizedError as OldUnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect } from "vitest";
import { codeFrom, REDIRECT, type Signing } from "./oauth.ts";

const INFO = { name: "test", version: "1" };

export type HostTokens = { access_token: string; refresh_token: string; scope: string };

/** Stores a host's tokens, and the URL to which it sends its person's browser. */
export const hostOf = () => {
  let information: unknown;
  let tokens: unknown;
  let verifier = "";
  let asked: URL | undefined;
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: "Test host",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    clientInformation: () => information,
    saveClientInformation: (given: unknown) => {
      information = given;
    },
    tokens: () => tokens,
    saveTokens: (given: unknown) => {
      tokens = given;
    },
    saveCodeVerifier: (given: string) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization: (url: URL) => {
      asked = url;
    },
  };
  return { provider, asked: () => String(asked), tokens: () => tokens as HostTokens };
};

type Options = {
  mode?: "legacy" | "auto";
  /** Prepares each client before it connects. */
  prepare?: (client: Client) => void;
  capabilities?: NonNullable<ConstructorParameters<typeof Client>[1]>["capabilities"];
};

/** Connects a host on the 2.x SDK after a person has signed in. */
export const connectNew = async (
  mcpUrl: string,
  person: Signing,
  { mode = "auto", prepare = () => {}, capabilities = {} }: Options = {},
) => {
  const host = hostOf();
  const authProvider = host.provider as unknown as OAuthClientProvider;
  const open = () => new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider });
  const make = () => {
    const client = new Client(INFO, { capabilities, versionNegotiation: { mode } });
    prepare(client);
    return client;
  };
  const first = open();
  await expect(make().connect(first)).rejects.toThrow(UnauthorizedError);
  const code = await codeFrom(host.asked(), person);
  await first.finishAuth(new URLSearchParams({ code, iss: mcpUrl.replace(/\/mcp$/, "") }));
  const [client, transport] = [make(), open()];
  await client.connect(transport);
  return { client, host, transport };
};

/** Connects a host on the 1.x SDK after a person has signed in. */
export const connectOld = async (mcpUrl: string, person: Signing) => {
  const host = hostOf();
  const authProvider = host.provider as unknown as NonNullable<
    NonNullable<ConstructorParameters<typeof OldTransport>[1]>["authProvider"]
  >;
  const open = () => new OldTransport(new URL(mcpUrl), { authProvider });
  const first = open();
  await expect(new OldClient(INFO).connect(first)).rejects.toThrow(OldUnauthorizedError);
  await first.finishAuth(await codeFrom(host.asked(), person));
  const [client, transport] = [new OldClient(INFO), open()];
  await client.connect(transport);
  return { client, host, transport };
};
