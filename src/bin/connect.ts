const indent = (text: string): string =>
  text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");

/** How to connect hosts to a running server, for a person's terminal. */
export const connectHints = (mcpUrl: string): string => `
  The demo tenant's MCP server runs at ${mcpUrl}

  Claude Code
${indent(`claude mcp add --transport http receivables ${mcpUrl}`)}

  VS Code: in .vscode/mcp.json
${indent(JSON.stringify({ servers: { receivables: { type: "http", url: mcpUrl } } }, null, 2))}

  Claude Desktop starts the server itself: Settings, Developer, Edit Config
${indent(
  JSON.stringify(
    { mcpServers: { receivables: { command: "npx", args: ["-y", "receivables-mcp"] } } },
    null,
    2,
  ),
)}

  Ask it, for instance: "Which open disputes are oldest, and who should work on them?"
  Ctrl-C ends the server.
`;
