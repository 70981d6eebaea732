import about from "../../package.json" with { type: "json" };
import manifest from "../../manifest.json" with { type: "json" };
import { SETTINGS } from "./server-json.ts";

const AGENT_SCHEMAS = "https://agent-plugins.org/schemas/1.0.0";

/** The folder of the plugin in its archive; some hosts take it for the plugin's name. */
export const PLUGIN = "receivables";

const PROGRAM = "dist/cli.js";
const SKILLS = "./skills/";

const { version, license, homepage } = about;
const { author, keywords, description, display_name: displayName, icon } = manifest;
const { long_description: longDescription } = manifest;

const startWith = (program: string, more: object = {}) => ({
  [PLUGIN]: { command: "node", args: [program, "stdio"], ...more },
});

/** The fields of every manifest. */
const COMMON = { name: PLUGIN, version, description, author, homepage, license, keywords };

/** A plugin package: the files that its host reads, besides program, skills and icon, which all have. */
export type Plugin = { host: string; files: Readonly<Record<string, object>> };

const CLAUDE = {
  ".claude-plugin/plugin.json": COMMON,
  // The plugin is its own marketplace, so that a host can add it from the unpacked folder.
  ".claude-plugin/marketplace.json": {
    name: PLUGIN,
    description,
    owner: author,
    plugins: [{ name: PLUGIN, source: "./", description, version }],
  },
  ".mcp.json": {
    mcpServers: startWith(["${CLAUDE_PLUGIN_ROOT}", PROGRAM].join("/")),
  },
};

const AGENT_PLUGIN = {
  "plugin.json": { $schema: `${AGENT_SCHEMAS}/plugin.schema.json`, ...COMMON },
  "mcp.json": {
    $schema: `${AGENT_SCHEMAS}/mcp.schema.json`,
    mcpServers: startWith(["${PLUGIN_ROOT}", PROGRAM].join("/"), { type: "stdio" }),
  },
};

const CODEX = {
  ".codex-plugin/plugin.json": {
    ...COMMON,
    skills: SKILLS,
    mcpServers: "./.mcp.json",
    interface: {
      displayName,
      shortDescription: about.mcpSummary,
      longDescription,
      developerName: author.name,
      category: "Productivity",
      capabilities: ["Interactive", "Read", "Write"],
      defaultPrompt: ["Which disputes should I work on first?"],
      logo: `./${icon}`,
    },
  },
  ".agents/plugins/marketplace.json": {
    name: PLUGIN,
    plugins: [{ name: PLUGIN, source: { source: "local", path: "./" } }],
  },
  ".mcp.json": { mcpServers: startWith(`./${PROGRAM}`, { cwd: "." }) },
};

const CURSOR = {
  ...AGENT_PLUGIN,
  ".cursor-plugin/plugin.json": {
    ...COMMON,
    displayName,
    logo: icon,
    skills: SKILLS,
    mcpServers: "./mcp.json",
  },
};

const GEMINI = {
  "gemini-extension.json": {
    name: PLUGIN,
    version,
    description,
    mcpServers: startWith(["${extensionPath}", ...PROGRAM.split("/")].join("${/}")),
    settings: SETTINGS.map((setting) => ({
      name: setting.title,
      description: setting.description,
      envVar: setting.name,
      sensitive: setting.isSecret === true,
    })),
  },
};

/** The plugin packages, by the host that installs them. */
export const PLUGINS: readonly Plugin[] = [
  { host: "claude", files: CLAUDE },
  { host: "agent-plugin", files: AGENT_PLUGIN },
  { host: "codex", files: CODEX },
  { host: "cursor", files: CURSOR },
  { host: "gemini", files: GEMINI },
];
