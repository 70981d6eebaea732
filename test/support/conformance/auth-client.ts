/**
 * A host that signs in without a browser, as a program for the conformance suite: the address of the server is its
 * argument, the scenario and its context are in the environment. It prints the names of the server's tools.
 */
import {
  Client,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

type Context = Record<
  | "client_id"
  | "client_secret"
  | "private_key_pem"
  | "signing_algorithm"
  | "idp_client_id"
  | "idp_client_secret"
  | "idp_id_token"
  | "idp_token_endpoint",
  string
>;

const createAssertingProvider = (context: Context): OAuthClientProvider =>
  new CrossAppAccessProvider({
    clientId: context.client_id,
    clientSecret: context.client_secret,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope }) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: context.idp_token_endpoint,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: context.idp_id_token,
        clientId: context.idp_client_id,
        clientSecret: context.idp_client_secret,
        ...(scope === undefined ? {} : { scope }),
      });
      return jwtAuthGrant;
    },
  });

const PROVIDERS: Record<string, (context: Context) => OAuthClientProvider> = {
  "auth/client-credentials-jwt": (context) =>
    new PrivateKeyJwtProvider({
      clientId: context.client_id,
      privateKey: context.private_key_pem,
      algorithm: context.signing_algorithm,
    }),
  "auth/client-credentials-basic": (context) =>
    new ClientCredentialsProvider({
      clientId: context.client_id,
      clientSecret: context.client_secret,
    }),
  "auth/enterprise-managed-authorization": createAssertingProvider,
};

const { MCP_CONFORMANCE_SCENARIO = "", MCP_CONFORMANCE_CONTEXT = "{}" } = process.env;
const authProvider = PROVIDERS[MCP_CONFORMANCE_SCENARIO]?.(JSON.parse(MCP_CONFORMANCE_CONTEXT));
if (authProvider === undefined) throw new Error(`unknown scenario ${MCP_CONFORMANCE_SCENARIO}`);

const client = new Client({ name: "conformance", version: "1" });
const url = new URL(process.argv.at(-1) ?? "");
await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
const { tools } = await client.listTools();
process.stdout.write(JSON.stringify(tools.map(({ name }) => name)));
await client.close();
