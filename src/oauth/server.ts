import type { IncomingMessage, ServerResponse } from "node:http";
import { withClientAddress } from "../kit/client-address.ts";
import { HOUR } from "../kit/clock.ts";
import type { Secret } from "../kit/secret.ts";
import { type Approval, type Decision, findDecision, openApproval } from "./approvals.ts";
import { createCompany } from "./company.ts";
import { type AuthorizationServerNeeds, createContext } from "./context.ts";
import { listConnections, revokeGrant } from "./grants.ts";
import { isClientCurrent } from "./direct-tokens.ts";
import { createOwnKey, type OwnKeyRequest } from "./own-keys.ts";
import { findPerson, isKeyAccepted, readRole, removeUngranted } from "./people.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { createProvider } from "./provider.ts";
import type { Refusal } from "./refusal.ts";
import { createRequestHandler } from "./routes.ts";
import { parseScopes, type Scope } from "./scopes.ts";
import type { SignInContext } from "./sign-in-request.ts";
import { endVisits } from "./visits.ts";

export type { AuthorizationServerNeeds } from "./context.ts";

/** The person and client that an access token was issued to. */
export type TokenHolder = {
  personId: string;
  clientId: string;
  grantId: string;
  scopes: Scope[];
  /** Epoch seconds. */
  expiresAt: number;
};

export type AuthorizationServer = {
  /** Handles requests below `/oauth/` and for the metadata. */
  handle(incoming: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Signs a person in and creates an API key of theirs, which is not stored. */
  createOwnKey(
    incoming: IncomingMessage,
    request: Omit<OwnKeyRequest, "ip">,
  ): Promise<{ apiKey: Secret } | Refusal>;
  /** Looks an access token up; undefined if it is unknown, expired, revoked or for another resource. */
  verifyToken(token: string): Promise<TokenHolder | undefined>;
  /** Returns the credential for a person's calls; undefined after their last grant has ended. */
  findCredential(
    personId: string,
  ): Promise<{ email: string; tenantId: string; apiKey: Secret } | undefined>;
  /** Reads the name of a person's role at their tenant; undefined if they have none there or no grant. @throws {Problem} */
  readRole(personId: string): Promise<string | undefined>;
  /**
   * Checks a person's API key after the platform has refused a call. If the key is invalid, revokes the person's grants
   * and returns true, so that hosts let the person sign in again.
   */
  revokeIfKeyInvalid(personId: string): Promise<boolean>;
  /** Opens a page on which a person approves a call; undefined if they are signed in in no browser. */
  openApproval(approval: Approval): Promise<string | undefined>;
  /** Returns a person's decision on an approval page; undefined as long as there is none. */
  findDecision(approval: Pick<Approval, "id" | "personId">): Promise<Decision | undefined>;
  /** Removes expired records, and the API keys of people without grants. Runs at start and hourly. */
  purge(): Promise<void>;
};

const verifyToken = async (
  context: SignInContext,
  token: string,
): Promise<TokenHolder | undefined> => {
  const { provider, resource } = context;
  const found = await provider.AccessToken.find(token);
  if (found === undefined || found.aud !== resource) return undefined;
  const { accountId, grantId, clientId = "", exp = 0, scope, extra } = found;
  if (accountId === undefined || grantId === undefined) return undefined;
  if (!(await isClientCurrent(context, clientId, extra))) return undefined;
  // A token that was issued while its grant was revoked may have been stored after the revocation.
  if ((await provider.Grant.find(grantId)) === undefined) return undefined;
  return { personId: accountId, clientId, grantId, scopes: parseScopes(scope), expiresAt: exp };
};

const revokeIfKeyInvalid = async (context: SignInContext, personId: string): Promise<boolean> => {
  const person = await findPerson(context, personId);
  if (person === undefined) return true;
  if (await isKeyAccepted(context, person)) return false;
  const connections = await listConnections(context, personId);
  await Promise.all(connections.map(({ grantId }) => revokeGrant(context, grantId)));
  // The key ends with a password change, among others, after which no browser may stay signed in.
  await endVisits(context, person.userId);
  return true;
};

const purge = async (context: SignInContext): Promise<void> => {
  const { storage, records, now } = context;
  // Short transactions, so that requests get their turn.
  while ((await storage.purge()) > 0);
  const spentGrants = await storage.listSpentGrants(now() + LIFETIMES.grant - HOUR);
  for (const { jti: grantId } of records.decryptAll(spentGrants)) {
    if (typeof grantId === "string") await revokeGrant(context, grantId);
  }
  await removeUngranted(context);
};

/** Creates the built-in authorization server over a storage that all its processes share. */
export const createAuthorizationServer = (needs: AuthorizationServerNeeds): AuthorizationServer => {
  const oauthContext = createContext(needs);
  const { directory, companySettings } = oauthContext;
  const company =
    directory && companySettings && createCompany({ ...oauthContext, directory }, companySettings);
  const provider = createProvider(oauthContext);
  const context: SignInContext = { ...oauthContext, provider, company };
  return {
    handle: createRequestHandler(context),
    createOwnKey(incoming, request) {
      const ip = needs.addressOf(incoming);
      return withClientAddress(ip, () => createOwnKey(context, { ...request, ip }));
    },
    verifyToken: (token) => verifyToken(context, token),
    async findCredential(personId) {
      const person = await findPerson(context, personId);
      return person && { email: person.email, tenantId: person.tenant.id, apiKey: person.apiKey };
    },
    async readRole(personId) {
      const person = await findPerson(context, personId);
      return person && readRole(context, person);
    },
    revokeIfKeyInvalid: (personId) => revokeIfKeyInvalid(context, personId),
    openApproval: (approval) => openApproval(context, approval),
    findDecision: (approval) => findDecision(context, approval),
    purge: () => purge(context),
  };
};
