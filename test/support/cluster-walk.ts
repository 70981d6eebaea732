import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Driver } from "../mcp/transports.ts";
import type { Result } from "../mcp/hosts.ts";
import { type Cluster, EMAIL, PASSWORD, TENANT, TOKEN } from "./cluster.ts";
import { connectionOf } from "./pdf.ts";
import { type Caller, createCaller, type Person } from "./platform.ts";
import { type Records, seed } from "./records.ts";

export const YES = { action: "accept" as const, content: { confirm: true } };

export type Era = "auto" | "legacy";

export type ClusterHost = Driver & { client: Client; updates: string[] };

/** Connects a host to the MCP servers behind the proxy; its person agrees to everything by default. */
export const connectHost = async (
  { mcpUrl }: Cluster,
  mode: Era,
  person: () => typeof YES | Promise<typeof YES> = () => YES,
): Promise<ClusterHost> => {
  const client = new Client(
    { name: "driver", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  const updates: string[] = [];
  client.setRequestHandler("elicitation/create", person);
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updates.push(params.uri);
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
    requestInit: { headers },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  return {
    client,
    updates,
    toolNames: tools.map(({ name }) => name),
    call: async (name, args) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result,
    close: () => client.close(),
  };
};

/** Calls the platforms behind the proxy. */
export const callerOf = (
  { platformUrl }: Pick<Cluster, "platformUrl">,
  credential: Record<string, string>,
): Caller => createCaller(fetch, platformUrl, TENANT, credential);

/** Signs the tenant's administrator in at the platforms. */
export const signIn = async (cluster: Cluster): Promise<Person> => {
  const login = { email: EMAIL, password: PASSWORD };
  const path = "/authentication/v1/login";
  const { body, text } = await callerOf(cluster, {})("POST", path, { body: login });
  if (body?.accessToken === undefined) throw new Error(text);
  const token = String(body.accessToken);
  const call = callerOf(cluster, { "X-Platform-Auth": token });
  const profile = await call("GET", "/user/v1/users/profile");
  return { email: EMAIL, password: PASSWORD, token, userId: profile.body.userId, call };
};

/** Creates one record of everything through the platforms. */
export const createRecords = async (
  cluster: Cluster,
  admin: Person,
  mark: string,
): Promise<Records> => {
  const key = await admin.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key");
  const keyed = callerOf(cluster, { "X-API-Key": cluster.extApiKey });
  const store = await cluster.database.open();
  try {
    return await seed({
      admin,
      tenantId: TENANT,
      keyId: key.body.keyId,
      auditor: keyed,
      ingester: keyed,
      exporter: keyed,
      connectionId: await connectionOf(store, TENANT),
      store,
      mark,
    });
  } finally {
    await store.close();
  }
};
