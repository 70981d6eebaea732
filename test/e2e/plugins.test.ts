import { Ajv } from "ajv";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it } from "vitest";
import { PLUGIN, PLUGINS } from "../../scripts/build/plugins.ts";
import { useFolder } from "../support/folder.ts";
import { unpackPlugins } from "../support/plugins.ts";
import { verifies } from "../support/verifies.ts";

const ROOT = join(import.meta.dirname, "../..");

const text = { type: "string" };
const some = { ...text, minLength: 1 };
const texts = { type: "array", items: text };
const closed = (required: readonly string[], properties: object) => ({
  type: "object",
  additionalProperties: false,
  required,
  properties,
});
const name = { ...text, pattern: "^(?!.*(?:--|\\.\\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$" };
const author = closed(["name"], { name: text, email: text });
const common = {
  name,
  author,
  version: text,
  description: text,
  homepage: text,
  license: text,
  keywords: texts,
};
const program = { command: { const: "node" }, args: texts };
const servers = (server: object) => closed([PLUGIN], { [PLUGIN]: server });
const path = { ...text, pattern: "^\\./" };
const codexInterface = {
  displayName: some,
  shortDescription: some,
  longDescription: some,
  developerName: some,
  category: some,
  capabilities: { ...texts, items: some, minItems: 1 },
  defaultPrompt: { ...texts, items: some, minItems: 1, maxItems: 3 },
  logo: path,
};

/**
 * The fields that we write, with the rules of the published schemas: agent-plugins.org/schemas/1.0.0 (plugin, mcp),
 * cursor.com/schemas/cursor-plugin (plugin) and json.schemastore.org (claude-code-plugin-manifest,
 * claude-code-marketplace, codex-plugin-manifest), as they were in August 2026. Gemini CLI publishes no schema of
 * extensions: it has `gemini extensions validate`, which plugin-hosts.test.ts runs. Every object is closed here, so that
 * a misspelt field is found where the published schema is open.
 */
const SCHEMAS: Record<string, Record<string, object>> = {
  claude: {
    ".claude-plugin/plugin.json": closed(["name"], common),
    ".claude-plugin/marketplace.json": closed(["name", "owner", "plugins"], {
      name,
      description: text,
      owner: author,
      plugins: {
        type: "array",
        items: closed(["name", "source"], {
          name,
          source: path,
          description: text,
          version: text,
        }),
      },
    }),
    ".mcp.json": closed(["mcpServers"], {
      mcpServers: servers(closed(["command"], program)),
    }),
  },
  "agent-plugin": {
    "plugin.json": closed(["$schema", "name"], {
      $schema: { const: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json" },
      ...common,
    }),
    "mcp.json": closed(["$schema", "mcpServers"], {
      $schema: { const: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json" },
      mcpServers: servers(closed(["type", "command"], { type: { const: "stdio" }, ...program })),
    }),
  },
  codex: {
    ".codex-plugin/plugin.json": closed(["name", "version", "description", "author", "interface"], {
      ...common,
      version: { ...text, pattern: "^\\d+\\.\\d+\\.\\d+$" },
      skills: path,
      mcpServers: path,
      interface: closed(Object.keys(codexInterface), codexInterface),
    }),
    ".agents/plugins/marketplace.json": closed(["name", "plugins"], {
      name,
      plugins: {
        type: "array",
        items: closed(["name", "source"], {
          name,
          source: closed(["source", "path"], { source: { const: "local" }, path }),
        }),
      },
    }),
    ".mcp.json": closed(["mcpServers"], {
      mcpServers: servers(closed(["command"], { ...program, cwd: { const: "." } })),
    }),
  },
  cursor: {
    ".cursor-plugin/plugin.json": closed(["name"], {
      ...common,
      displayName: text,
      logo: text,
      skills: path,
      mcpServers: path,
    }),
  },
  gemini: {
    "gemini-extension.json": closed(["name", "version"], {
      // It must be the name of the folder.
      name: { const: PLUGIN },
      version: text,
      description: text,
      mcpServers: servers(closed(["command"], program)),
      settings: {
        type: "array",
        items: closed(["name", "envVar"], {
          name: text,
          description: text,
          envVar: { ...text, pattern: "^RECEIVABLES_" },
          sensitive: { type: "boolean" },
        }),
      },
    }),
  },
};
SCHEMAS["cursor"] = { ...SCHEMAS["agent-plugin"], ...SCHEMAS["cursor"] };

type Server = { command: string; args: string[]; cwd?: string };

const folder = useFolder();

const folderOf = (host: string): string => join(folder, host, PLUGIN);

beforeAll(async () => {
  await unpackPlugins(folder);
}, 300_000);

/** Puts in the variables of a host for its plugin's folder. */
const expand = (value: string, root: string): string =>
  value
    .replace(/\$\{(CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT|extensionPath)\}/, () => root)
    .replaceAll("${/}", () => sep);

const readServer = async (host: string): Promise<Server> => {
  for (const { host: other, files } of PLUGINS) {
    const found = Object.keys(files).find((file) => /mcp\.json$|gemini-extension/.test(file));
    if (other !== host || found === undefined) continue;
    const { mcpServers } = JSON.parse(await readFile(join(folderOf(host), found), "utf8")) as {
      mcpServers: Record<string, Server>;
    };
    const server = mcpServers[PLUGIN];
    if (server !== undefined) return server;
  }
  throw new Error(`${host} has no server`);
};

describe.each(PLUGINS)("the package for $host", ({ host, files }) => {
  verifies("RC-03");
  it("has the program, the skills, an icon and the files of its host, and nothing else", async () => {
    expect(await readdir(join(folder, host))).toEqual([PLUGIN]);
    const roots = Object.keys(files).map((file) => file.split("/")[0] ?? file);
    const shared = ["LICENSE", "dist", "docs", "package.json", "skills"];
    expect((await readdir(folderOf(host))).toSorted()).toEqual(
      [...new Set([...shared, ...roots])].toSorted(),
    );
    expect(await readdir(join(folderOf(host), "skills"))).toEqual(
      await readdir(join(ROOT, "skills")),
    );
    expect(await readdir(join(folderOf(host), "docs/pictures"))).toEqual(["icon.png"]);
  });

  it("has files that the schemas of its host accept", async () => {
    const schemas = SCHEMAS[host] ?? {};
    expect(Object.keys(schemas).toSorted()).toEqual(Object.keys(files).toSorted());
    for (const [file, schema] of Object.entries(schemas)) {
      const validate = new Ajv({ allErrors: true }).compile(schema);
      validate(JSON.parse(await readFile(join(folderOf(host), file), "utf8")));
      expect(validate.errors ?? [], file).toEqual([]);
    }
  });

  it("starts the server without a checkout, as the host does", async () => {
    const server = await readServer(host);
    const root = folderOf(host);
    const client = new Client({ name: host, version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: server.command,
        args: server.args.map((one) => expand(one, root)),
        cwd: server.cwd === undefined ? folder : join(root, server.cwd),
        env: {
          // `node` is the first one on the path.
          PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
          HOME: folder,
          RECEIVABLES_DATA: join(folder, "data"),
          RECEIVABLES_KEYCHAIN: "off",
        },
        stderr: "ignore",
      }),
    );
    const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
    expect(answer.structuredContent).toMatchObject({ total: 300 });
    await client.close();
  });
});
