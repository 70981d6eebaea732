import type { Entrance } from "./http-gate.ts";
import type { Io } from "./io.ts";

const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/\[ ("[^"]*") \]/g, "[$1]");

/** What stands above the hints: what is served, and how whoever calls shows who they are. */
const headOf = (mcpUrl: string, { auth, tokens }: Entrance): string => {
  if (auth === "none") return `The demo tenant is ready at ${mcpUrl}`;
  const ready = `The MCP server is ready at ${mcpUrl}`;
  if (auth === "builtin") {
    return `${ready}\n\n  People sign in there with their accounts on the platform, in a browser that their host opens.`;
  }
  if (tokens === undefined) return ready;
  return tokens.made === undefined
    ? `${ready}\n\n  Tokens are in     ${tokens.path}`
    : `${ready}\n\n  Token             ${tokens.made}\n                    It is shown this once, and kept in ${tokens.path}`;
};

/** How to connect hosts to a running server, for a person's terminal. */
export const connectHints = ({
  mcpUrl,
  entrance,
  io: { program, config },
}: {
  mcpUrl: string;
  entrance: Entrance;
  io: Pick<Io, "program" | "config">;
}): string => {
  const bearer = entrance.tokens === undefined ? undefined : "Bearer TOKEN";
  const flag = bearer === undefined ? "" : ` --header "Authorization: ${bearer}"`;
  const headers = bearer === undefined ? {} : { headers: { Authorization: bearer } };
  const web = { servers: { receivables: { type: "http", url: mcpUrl, ...headers } } };
  const own = { ...program, env: { RECEIVABLES_DATA: config.dataFolder } };
  return `
  ${headOf(mcpUrl, entrance)}

  Claude Code       claude mcp add --transport http receivables ${mcpUrl}${flag}

  VS Code           .vscode/mcp.json
                    ${spaced(web)}

  Claude Desktop    starts a server of its own on the same data: Settings > Developer > Edit Config
                    ${spaced({ mcpServers: { receivables: own } })}

  Then ask: "Which open disputes are oldest, and who should work on them?"
  Ctrl-C ends the server.
`;
};
