import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { Secret } from "../kit/secret.ts";
import type { OauthContext } from "./context.ts";
import { checkResource, issueDirectToken, readScopes, type TokenContext } from "./direct-tokens.ts";
import type { Directory, DirectoryClient } from "./directory.ts";
import { CLIENT_CREDENTIALS } from "./grant-types.ts";
import {
  addPerson,
  clientPersonIdOf,
  findPerson,
  isKeyAccepted,
  retireKey,
  savePerson,
} from "./people.ts";
import { ALL_SCOPES, parseScopes } from "./scopes.ts";

/** Makes sure that a client has a working API key. @throws {errors.InvalidClient} if it was changed meanwhile */
const ensureClient = async (
  context: OauthContext,
  directory: Directory,
  client: DirectoryClient,
): Promise<void> => {
  const id = clientPersonIdOf(context, client);
  const existing = await findPerson(context, id);
  if (existing !== undefined && (await isKeyAccepted(context, existing))) return;
  const key = await directory.createClientKey(client);
  if (key === undefined) throw new errors.InvalidClient("the client has just been changed");
  const { tenant } = client;
  const apiKey = new Secret(key.apiKey);
  const { keyId } = key;
  const named = { userId: client.id, email: client.id, isClient: true };
  const person = { id, ...named, tenant, keyId, apiKey };
  if (existing !== undefined) return savePerson(context, person);
  // Another process may have stored a key meanwhile.
  if (!(await addPerson(context, person))) await retireKey(context, person);
};

/** Handles a token request of a client that an administrator created: it acts with the rights of its own role. */
export const createClientCredentialsHandler =
  (context: TokenContext, directory: Directory) =>
  async (exchange: KoaContextWithOIDC): Promise<void> => {
    const { client, params } = exchange.oidc;
    const found = client && (await directory.findClient(client.clientId));
    if (client === undefined || found === undefined) throw new errors.InvalidClient();
    if (context.tenantId !== undefined && context.tenantId !== found.tenant.id) {
      throw new errors.UnauthorizedClient("this server works for another tenant");
    }
    checkResource(context, params?.["resource"]);
    await issueDirectToken(context, exchange, {
      client,
      personId: clientPersonIdOf(context, found),
      // The client's role is the limit.
      scopes: readScopes(params?.["scope"]) ?? parseScopes(ALL_SCOPES),
      grantType: CLIENT_CREDENTIALS,
      ensureKey: () => ensureClient(context, directory, found),
    });
  };
