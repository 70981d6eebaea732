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

/** Returns the entry for the MCP registry: the npm package, and the desktop extension where its address is known. */
export const createServerJson = (
  { name, version, summary, homepage, mcpName }: About,
  extension: { url: string; sha256: string },
): object => {
  const transport = { type: "stdio" };
  return {
    $schema: SCHEMA,
    name: mcpName,
    title: "Receivables",
    description: summary,
    version,
    websiteUrl: homepage,
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
