import type { IncomingMessage } from "node:http";
import type { Client } from "../client/port.ts";
import type { Clock } from "../kit/clock.ts";
import type { OriginCheck } from "../kit/cors.ts";
import type { Log } from "../kit/log.ts";
import { type HostNeeds, listLoopbackAliases } from "../kit/network.ts";
import { createSeal } from "../kit/seal.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import type { CompanySettings } from "./company-settings.ts";
import type { Directory } from "./directory.ts";
import { createFormTokens, type FormTokens } from "./form.ts";
import type { ReadIdentityProviders } from "./identity-providers.ts";
import { createInteractions, type Interactions } from "./interactions.ts";
import type { Brand } from "../pages/page.ts";
import { createRecords, type Records } from "./records.ts";
import type { Storage } from "../records/port.ts";

export type AuthorizationServerNeeds = {
  /** The issuer identifier (RFC 8414): this server's URL without a slash at the end. */
  issuer: string;
  /** The only resource that tokens are for (RFC 8707): the URL of the MCP endpoint. */
  resource: string;
  storage: Storage;
  masterKey: Buffer;
  client: Client;
  /** The product's word in the names of the platform's headers. */
  headerWord: string;
  /** Identifies the platform: its URL, or `embedded`. */
  platform: string;
  /** The platform's name on the pages. */
  platformName: string;
  /** The operator, if the settings name one. */
  brand?: Brand | undefined;
  /** The only tenant that people may choose, if the settings name one. */
  tenantId: string | undefined;
  /** Whether clients may register themselves (RFC 7591). */
  registration: boolean;
  /** The hosts that clients' metadata documents may come from. */
  hosts: HostNeeds;
  /** Whether scripts of an origin may use the endpoints of the protocol, apart from those of a client's own origin. */
  isOrigin: OriginCheck;
  /** An additional certificate authority for these hosts, as PEM. */
  ca?: string;
  /** The platform's people and clients; undefined where this server does not share its store. */
  directory?: Directory | undefined;
  /** The company's identity providers whose assertions are accepted (RFC 7523). */
  identityProviders?: ReadIdentityProviders | undefined;
  /** The company's OpenID provider at which people may sign in. It needs the directory. */
  companySettings?: CompanySettings | undefined;
  /** Whether people may sign in with a password of the platform. */
  passwords?: boolean;
  /** Returns a request's client address, behind trusted proxies. */
  addressOf: (incoming: IncomingMessage) => string;
  now: Clock;
  log: Log;
};

/** The state that all parts of the authorization server share. */
export type OauthContext = Omit<AuthorizationServerNeeds, "passwords"> & {
  passwords: boolean;
  /**
   * Names of the resource that clients may use for it: its URL and that of this server, under each name of this machine.
   * Hosts that know no metadata of the resource name the address that the person typed.
   */
  resourceAliases: readonly string[];
  records: Records;
  attempts: Attempts;
  forms: FormTokens;
  interactions: Interactions;
};

export const createContext = (needs: AuthorizationServerNeeds): OauthContext => {
  const { storage, masterKey, now } = needs;
  return {
    ...needs,
    passwords: needs.passwords ?? true,
    resourceAliases: [needs.resource, needs.issuer]
      .flatMap((url) => listLoopbackAliases(new URL(url)))
      .map(({ href }) => href.replace(/\/$/, "")),
    records: createRecords(storage, masterKey),
    attempts: createAttempts(storage),
    forms: createFormTokens(createSeal(masterKey, "oauth-form"), now),
    interactions: createInteractions(createSeal(masterKey, "oauth-interaction"), now),
  };
};
