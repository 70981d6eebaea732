/** A block to copy that connects one host: a command, the content of a file, or an address. */
export type HostBlock = {
  host: string;
  /** The place of the block, such as a file or a menu. */
  place: string;
  language: "sh" | "json" | "text";
  text: string;
};

/** The address of `npm start`. */
export const LOCAL_URL = "http://127.0.0.1:8765/mcp";

/** The command by which a host starts the server itself. */
export type HostCommand = { command: string; args: string[]; env?: Record<string, string> };

/** Formats JSON as people write it: lists of words are on one line. */
const toJson = (value: object): string =>
  JSON.stringify(value, null, 2).replaceAll(
    /\[[^[\]{}]*\]/g,
    (list) => `[${list.slice(1, -1).trim().replaceAll(/\n */g, " ")}]`,
  );

const formatShell = (mcpUrl: string, bearer: string | undefined): string =>
  `claude mcp add --transport http receivables ${mcpUrl}${
    bearer === undefined ? "" : ` --header "Authorization: ${bearer}"`
  }`;

const toWeb = (mcpUrl: string, bearer: string | undefined): object => ({
  url: mcpUrl,
  ...(bearer === undefined ? {} : { headers: { Authorization: bearer } }),
});

/** Returns the blocks of hosts that connect to a running server; `bearer` is the value of the header with a static token. */
export const listHttpBlocks = (mcpUrl: string, bearer?: string): HostBlock[] => {
  const web = toWeb(mcpUrl, bearer);
  return [
    {
      host: "Claude Code",
      place: "in a shell",
      language: "sh",
      text: formatShell(mcpUrl, bearer),
    },
    {
      host: "VS Code",
      place: "the file .vscode/mcp.json",
      language: "json",
      text: toJson({ servers: { receivables: { type: "http", ...web } } }),
    },
    {
      host: "Cursor",
      place: "the file .cursor/mcp.json",
      language: "json",
      text: toJson({ mcpServers: { receivables: web } }),
    },
  ];
};

/** Returns the block of a host in the browser, which needs a public address. */
export const createConnectorBlock = (mcpUrl: string): HostBlock => ({
  host: "Claude, ChatGPT",
  place: "Settings, Connectors, Add custom connector",
  language: "text",
  text: mcpUrl.startsWith("https:")
    ? mcpUrl
    : "needs a public https address: a proxy in front, and RECEIVABLES_PUBLIC_URL",
});

/** Returns the block of a host that starts the server itself. */
export const createStdioBlock = (own: HostCommand, system?: string): HostBlock => ({
  host: "Claude Desktop",
  place: `Settings, Developer, Edit Config${system === undefined ? "" : `; ${system}`}`,
  language: "json",
  text: toJson({ mcpServers: { receivables: own } }),
});

/** Returns the command that starts a checkout with its own Node.js. */
export const createCheckoutCommand = (folder: string, isWindows: boolean): HostCommand => {
  const path = isWindows ? folder.replaceAll("\\", "/") : folder;
  const npm = ["--prefix", path, "run", "-s", "cli", "--", "stdio"];
  return isWindows
    ? { command: "cmd", args: ["/c", "npm", ...npm] }
    : { command: "npm", args: npm };
};

/** Returns the block for each system, with a path for the person to replace. */
export const listCheckoutBlocks = (): HostBlock[] => [
  createStdioBlock(createCheckoutCommand("/path/to/receivables-mcp", false), "macOS and Linux"),
  createStdioBlock(createCheckoutCommand("C:/path/to/receivables-mcp", true), "Windows"),
];
