import { beforeAll } from "vitest";
import { randomId } from "../../src/kit/ids.ts";
import type { IdentityProvider } from "../../src/oauth/identity-providers.ts";
import { createClient } from "../../src/platform/admin/clients.ts";
import {
  ASSERTION_TYPE,
  type Claims,
  makeClientKeys,
  signClientAssertion,
} from "../support/client-keys.ts";
import { type Company, startCompany } from "../support/company.ts";
import {
  type Answer,
  askToken,
  directoryOf,
  type Options,
  type Running,
  startAuthorization,
} from "../support/oauth.ts";
import type { Person, TestPlatform } from "../support/platform.ts";

export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

export const statusOf = ({ status, body }: Answer) => [status, body.error];
export const REFUSED = [400, "invalid_grant"];

/**
 * Starts a company with an identity provider and an authorization server that accepts its assertions for `ann`, of a
 * client that an administrator created.
 */
export const useAssertions = (at: () => TestPlatform) => {
  const made = {} as { company: Company; running: Running; ann: Person; clientId: string };
  const keys = makeClientKeys();
  const needsOf = () => ({ store: at().store, clock: at().clock, newId: randomId });

  const providerOf = (more: Partial<IdentityProvider> = {}): IdentityProvider => ({
    issuer: made.company.issuer,
    claim: "email",
    clients: [made.clientId],
    emailVerified: "claim",
    ...more,
  });

  const start = (more: Partial<IdentityProvider> = {}, options: Options = {}): Promise<Running> =>
    startAuthorization(at(), {
      directory: directoryOf(at()),
      identityProviders: async () => [providerOf(more)],
      ca: made.company.certificate,
      ...options,
    });

  const addClient = async (): Promise<string> => {
    const credential = { publicKey: keys.publicPem };
    const named = { tenantId: "acme", name: "Assistant", role: "Viewer" };
    return (await createClient(needsOf(), { ...named, credential })).clientId;
  };

  beforeAll(async () => {
    await at().tenant("acme");
    made.ann = await at().person("acme", { roles: ["Viewer"] });
    made.company = await startCompany();
    made.clientId = await addClient();
    made.running = await start();
    return async () => {
      await made.running.close();
      await made.company.close();
    };
  });

  const claimsOf = (more: Claims = {}): Claims => ({
    aud: made.running.url,
    client_id: made.clientId,
    email: made.ann.email,
    email_verified: true,
    scope: "read write",
    resource: made.running.resource,
    ...more,
  });

  type How = { params?: Record<string, string>; to?: Running; by?: string };
  const present = async (
    assertion: string,
    { params = {}, to = made.running, by = made.clientId }: How = {},
  ): Promise<Answer> =>
    askToken(to, {
      grant_type: JWT_BEARER,
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await signClientAssertion(keys, by, to.url),
      assertion,
      ...params,
    });

  return { made, keys, needsOf, providerOf, start, addClient, claimsOf, present };
};
