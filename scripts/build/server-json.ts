type About = {
  name: string;
  version: string;
  summary: string;
  homepage: string;
  mcpName: string;
};

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

const setting = (name: string, description: string, more: object = {}) => ({
  name,
  description,
  format: "string",
  ...more,
});

const SETTINGS = [
  setting("RECEIVABLES_BASE_URL", "Address of your platform. Unset: the demo tenant."),
  setting("RECEIVABLES_TENANT_ID", "The tenant to work for."),
  setting("RECEIVABLES_API_KEY", "Your key for the platform.", { isSecret: true }),
  setting("RECEIVABLES_EXT_API_KEY", "A key for the export and ingest services.", {
    isSecret: true,
  }),
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
        environmentVariables: SETTINGS,
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
