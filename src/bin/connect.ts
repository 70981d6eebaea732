type Program = { command: string; args: string[] };

const spaced = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/\[ ("[^"]*") \]/g, "[$1]");

/** How to connect hosts to a running server, for a person's terminal. */
export const connectHints = (mcpUrl: string, program: Program, dataFolder: string): string => {
  const web = { servers: { receivables: { type: "http", url: mcpUrl } } };
  const own = { ...program, env: { RECEIVABLES_DATA: dataFolder } };
  return `
  The demo tenant is ready at ${mcpUrl}

  Claude Code       claude mcp add --transport http receivables ${mcpUrl}

  VS Code           .vscode/mcp.json
                    ${spaced(web)}

  Claude Desktop    starts a server of its own on the same data: Settings > Developer > Edit Config
                    ${spaced({ mcpServers: { receivables: own } })}

  Then ask: "Which open disputes are oldest, and who should work on them?"
  Ctrl-C ends the server.
`;
};
