import type { ConnectHint } from "../mcp/http/site-page.ts";
import type { Config } from "./config.ts";
import type { Entrance } from "./entrance.ts";
import type { Io } from "./io.ts";

const formatJson = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/\[ ("[^"]*") \]/g, "[$1]");

const WITHOUT_DEMO = `The store has no demo tenant, and no credential is set, so every tool call fails. For people of other
  tenants set RECEIVABLES_HTTP_AUTH=builtin; for the demo tenant run: receivables-mcp admin demo create`;

/** Returns the heading: the URL, and how callers authenticate. */
const formatHeading = (mcpUrl: string, { auth, tokens }: Way, hasDemo: boolean): string => {
  const ready = `The MCP server is ready at ${mcpUrl}`;
  if (auth === "none") {
    return hasDemo ? `The demo tenant is ready at ${mcpUrl}` : `${ready}\n\n  ${WITHOUT_DEMO}`;
  }
  if (auth === "builtin") {
    return `${ready}\n\n  People sign in there with their accounts on the platform, in a browser that their host opens.`;
  }
  if (tokens === undefined) return ready;
  return tokens.made === undefined
    ? `${ready}\n\n  Tokens are in     ${tokens.path}`
    : `${ready}\n\n  Token             ${tokens.made}\n                    It is shown only once, and stored in ${tokens.path}`;
};

/** Returns the settings that select platform, profile and tenant, without secrets. */
const listPublicSettings = ({ dataFolder, profile, remote, tenantId }: Config) => ({
  RECEIVABLES_DATA: dataFolder,
  ...(profile === "default" ? {} : { RECEIVABLES_PROFILE: profile }),
  ...(remote === undefined
    ? {}
    : { RECEIVABLES_BASE_URL: remote.gateway, RECEIVABLES_EXT_BASE_URL: remote.export }),
  ...(tenantId === undefined ? {} : { RECEIVABLES_TENANT_ID: tenantId }),
});

/** Returns the names of the settings that are secret. */
const listSecretSettings = ({ credentials, databaseUrl, secretKey }: Config): string[] => {
  const given = {
    RECEIVABLES_API_KEY_FILE: credentials.apiKey,
    RECEIVABLES_EXT_API_KEY_FILE: credentials.extApiKey,
    RECEIVABLES_EMAIL: credentials.email,
    RECEIVABLES_PASSWORD_FILE: credentials.password,
    RECEIVABLES_SECRET_KEY_FILE: secretKey,
    DATABASE_URL: databaseUrl,
  };
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
};

/** With sign-in there is no credential to put into a configuration file, so the host connects to this server. */
const formatConnector = (mcpUrl: string): string =>
  mcpUrl.startsWith("https:")
    ? `Settings > Connectors > Add custom connector: ${mcpUrl}`
    : "needs a public https address: a proxy in front, and RECEIVABLES_PUBLIC_URL";

const formatDesktop = (mcpUrl: string, { auth }: Way, { program, config }: Own): string => {
  if (auth === "builtin" || auth === "issuer") return formatConnector(mcpUrl);
  const own = { ...program, env: listPublicSettings(config) };
  const secrets = listSecretSettings(config);
  const more =
    secrets.length === 0
      ? ""
      : `\n                    and in "env" the secrets of this server: ${secrets.join(", ")}`;
  return `starts a server of its own on the same data: Settings > Developer > Edit Config
                    ${formatJson({ mcpServers: { receivables: own } })}${more}`;
};

type Way = Pick<Entrance, "auth" | "tokens">;
type Own = Pick<Io, "program" | "config">;

const toBearer = ({ tokens }: Way): string | undefined =>
  tokens === undefined ? undefined : "Bearer TOKEN";

const formatClaudeCode = (mcpUrl: string, bearer: string | undefined): string =>
  `claude mcp add --transport http receivables ${mcpUrl}${
    bearer === undefined ? "" : ` --header "Authorization: ${bearer}"`
  }`;

const formatWeb = (mcpUrl: string, bearer: string | undefined): object => ({
  url: mcpUrl,
  ...(bearer === undefined ? {} : { headers: { Authorization: bearer } }),
});

/** Returns how hosts connect over HTTP, without paths of this machine: anyone who reaches the server may read it. */
export const listConnectHints = (mcpUrl: string, entrance: Way): ConnectHint[] => {
  const bearer = toBearer(entrance);
  const web = formatWeb(mcpUrl, bearer);
  return [
    { host: "Claude Code", text: formatClaudeCode(mcpUrl, bearer) },
    {
      host: "VS Code, .vscode/mcp.json",
      text: formatJson({ servers: { receivables: { type: "http", ...web } } }),
    },
    {
      host: "Cursor, .cursor/mcp.json",
      text: formatJson({ mcpServers: { receivables: web } }),
    },
    { host: "Claude, ChatGPT", text: formatConnector(mcpUrl) },
  ];
};

/** Returns instructions for a person's terminal on how to connect hosts to a running server. */
export const formatConnectHints = ({
  mcpUrl,
  entrance,
  io,
  hasDemo = true,
}: {
  mcpUrl: string;
  entrance: Way;
  io: Own;
  /** Whether the demo tenant exists, which callers without authentication use. */
  hasDemo?: boolean;
}): string => {
  const bearer = toBearer(entrance);
  const web = { servers: { receivables: { type: "http", ...formatWeb(mcpUrl, bearer) } } };
  return `
  ${formatHeading(mcpUrl, entrance, hasDemo)}

  Claude Code       ${formatClaudeCode(mcpUrl, bearer)}

  VS Code           .vscode/mcp.json
                    ${formatJson(web)}

  Claude Desktop    ${formatDesktop(mcpUrl, entrance, io)}

  Then ask: "Which open disputes are oldest, and who should work on them?"
  Ctrl-C ends the server.
`;
};
