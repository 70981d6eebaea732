import { dirname } from "node:path";
import type { Config } from "../../config/config.ts";
import { namesIn } from "../../kit/json.ts";
import type { Entrance } from "./entrance.ts";
import {
  createCheckoutCommand,
  createConnectorBlock,
  createStdioBlock,
  type HostBlock,
  type HostCommand,
  listCheckoutBlocks,
  listHttpBlocks,
} from "./host-blocks.ts";

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
const listPublicSettings = ({ dataFolder, profile, remote, tenantId, ownHeaderWord }: Config) => ({
  RECEIVABLES_DATA: dataFolder,
  ...(profile === "default" ? {} : { RECEIVABLES_PROFILE: profile }),
  ...(remote === undefined
    ? {}
    : { RECEIVABLES_BASE_URL: remote.gateway, RECEIVABLES_EXT_BASE_URL: remote.export }),
  ...(tenantId === undefined ? {} : { RECEIVABLES_TENANT_ID: tenantId }),
  ...(ownHeaderWord === undefined ? {} : { RECEIVABLES_HEADER_WORD: ownHeaderWord }),
});

/** Returns the names of the settings that are secret. */
const listSecretSettings = ({ credentials, databaseUrl, secretKey }: Config): string[] =>
  namesIn({
    RECEIVABLES_API_KEY_FILE: credentials.apiKey,
    RECEIVABLES_EXT_API_KEY_FILE: credentials.extApiKey,
    RECEIVABLES_EMAIL: credentials.email,
    RECEIVABLES_PASSWORD_FILE: credentials.password,
    RECEIVABLES_SECRET_KEY_FILE: secretKey,
    DATABASE_URL: databaseUrl,
  });

type Way = Pick<Entrance, "auth" | "tokens">;
/** The settings, and the command that starts this program. */
type Own = { config: Config; program: HostCommand };

const toBearer = ({ tokens }: Way): string | undefined =>
  tokens === undefined ? undefined : "Bearer TOKEN";

const SOURCE = /[/\\]src[/\\]bin[/\\]cli\.ts$/;

/** Returns the command that starts this program: by npm in a checkout, else as it was started. */
const createOwnCommand = ({ program, config }: Own): HostCommand => {
  const [entry = ""] = program.args;
  const own = SOURCE.test(entry)
    ? createCheckoutCommand(dirname(dirname(dirname(entry))), process.platform === "win32")
    : program;
  return { ...own, env: listPublicSettings(config) };
};

/** With sign-in there is no credential to put into a configuration file, so such hosts connect to this server. */
const signsIn = ({ auth }: Way): boolean => auth === "builtin" || auth === "issuer";

const formatSecrets = (config: Config): string => {
  const secrets = listSecretSettings(config);
  return secrets.length === 0
    ? ""
    : `\n    It also needs, in "env", the secrets of this server: ${secrets.join(", ")}`;
};

/** Returns how hosts connect, without paths of this machine: anyone who reaches the server may read it. */
export const listConnectHints = (mcpUrl: string, entrance: Way): HostBlock[] => [
  ...listHttpBlocks(mcpUrl, toBearer(entrance)),
  ...(entrance.auth === "none" ? listCheckoutBlocks() : []),
  createConnectorBlock(mcpUrl),
];

const formatBlock = ({ host, place, text }: HostBlock): string =>
  `  ${host}: ${place}\n\n${text.replace(/^/gm, "    ")}`;

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
  const http = listHttpBlocks(mcpUrl, toBearer(entrance)).map(formatBlock);
  const other = signsIn(entrance)
    ? formatBlock(createConnectorBlock(mcpUrl))
    : `${formatBlock(createStdioBlock(createOwnCommand(io)))}${formatSecrets(io.config)}

    It starts a server of its own on the same data, without npm start.`;
  return `
  ${formatHeading(mcpUrl, entrance, hasDemo)}

  The page for people: ${mcpUrl.replace(/mcp$/, "")}

${[...http, other].join("\n\n")}

  Then ask: "Which open disputes are oldest, and who should work on them?"
  Ctrl-C ends the server.
`;
};
