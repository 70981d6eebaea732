type About = {
  name: string;
  version: string;
  summary: string;
  homepage: string;
  mcpName: string;
};

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

type Setting = { name: string; title: string; description: string; isSecret?: true };

/** The settings that a registry or a host asks for. */
export const SETTINGS: readonly Setting[] = [
  {
    name: "RECEIVABLES_BASE_URL",
    title: "Platform address",
    description: "Address of your platform. Unset: the demo tenant.",
  },
  { name: "RECEIVABLES_TENANT_ID", title: "Tenant", description: "The tenant to work for." },
  {
    name: "RECEIVABLES_API_KEY",
    title: "API key",
    description: "Your key for the platform.",
    isSecret: true,
  },
  {
    name: "RECEIVABLES_EXT_API_KEY",
    title: "Export API key",
    description: "A key for the export and ingest services.",
    isSecret: true,
  },
];

/**
 * Returns the address of the publisher's server from `RECEIVABLES_RELEASE_REMOTE`; undefined if it is not set.
 *
 * @throws {Error} if it is no https address
 */
export const parseRemote = (text: string | undefined): string | undefined => {
  if (text === undefined || text.trim() === "") return undefined;
  const url = URL.parse(text.trim());
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "") {
    throw new Error(
      "RECEIVABLES_RELEASE_REMOTE must be the https address of the MCP endpoint, such as https://receivables.example/mcp, without a name or password.",
    );
  }
  return url.href;
};

/** Returns the entry for the MCP registry: the npm package, the desktop extension and, if there is one, the server. */
export const createServerJson = (
  { name, version, summary, homepage, mcpName }: About,
  extension: { url: string; sha256: string },
  remote?: string,
): object => {
  const transport = { type: "stdio" };
  return {
    $schema: SCHEMA,
    name: mcpName,
    title: "Receivables",
    description: summary,
    version,
    websiteUrl: homepage,
    ...(remote === undefined ? {} : { remotes: [{ type: "streamable-http", url: remote }] }),
    packages: [
      {
        registryType: "npm",
        identifier: name,
        version,
        runtimeHint: "npx",
        transport,
        environmentVariables: SETTINGS.map(({ title: _title, ...named }) => ({
          ...named,
          format: "string",
        })),
      },
      {
        registryType: "mcpb",
        identifier: extension.url,
        version,
        fileSha256: extension.sha256,
        transport,
      },
    ],
  };
};
