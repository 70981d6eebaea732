import type { Config } from "../../config/config.ts";
import { readIdentityProviders } from "../../config/identity-providers-file.ts";
import { type Clock, SECOND } from "../../kit/clock.ts";
import { getMessage } from "../../kit/error.ts";
import { isRecord, parseIfJson } from "../../kit/json.ts";
import { type HostNeeds, isGuarded } from "../../kit/network.ts";
import { trimEndOf } from "../../kit/text.ts";
import { checkCompanyClient } from "../../oauth/company-provider.ts";
import { COMPANY_PATHS } from "../../oauth/company.ts";
import { isDirectoryId } from "../../oauth/directory.ts";
import { countProviderKeys } from "../../oauth/provider-keys.ts";
import { findClient } from "../../platform/store/queries/clients.ts";
import { checkHttpSettings } from "../compose/http-gate.ts";
import { readStore } from "../compose/inspect-store.ts";
import { checkClock } from "./address-checks.ts";
import { type Check, createFault, createPass, explainError } from "./checks.ts";

/** The ways to the providers. */
export type SignInNeeds = {
  fetch: typeof globalThis.fetch;
  hosts: HostNeeds;
  /** An additional certificate authority of identity providers, as PEM. */
  ca?: string;
  now: Clock;
};

const TIMEOUT_MS = 5 * SECOND;
const ISSUER = "sign_in_issuer";
const CLIENT = "sign_in_client";
const PROVIDERS = "identity_providers";

const CONNECTION_HINT =
  "Check the spelling of RECEIVABLES_SIGN_IN_ISSUER, and the connection: HTTPS_PROXY, NODE_EXTRA_CA_CERTS.";
const IDENTIFIER_HINT =
  "RECEIVABLES_SIGN_IN_ISSUER must be the provider's issuer identifier: its address before /.well-known/openid-configuration.";
const PROVIDER_HINT = "Its operator corrects the metadata; people cannot sign in there until then.";

/** A fault with its hint. */
class Found extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const readDocument = async (url: string, { fetch, now }: SignInNeeds) => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal, redirect: "manual" }).catch((error: unknown) => {
    throw new Found(`${url}: ${explainError(error)}`, CONNECTION_HINT);
  });
  const value = parseIfJson(await response.text());
  if (response.status !== 200 || !isRecord(value)) {
    const what = response.status === 200 ? "no JSON object" : `status ${response.status}`;
    throw new Found(`${url} answers with ${what}`, IDENTIFIER_HINT);
  }
  const date = Date.parse(response.headers.get("date") ?? "");
  return { value, aheadMs: Number.isNaN(date) ? undefined : date - now() };
};

const hrefOf = (url: unknown): string | undefined => URL.parse(String(url))?.href;

/** Checks the metadata and the keys of the company's provider. */
const checkMetadata = async (issuer: string, needs: SignInNeeds): Promise<Check[]> => {
  const url = `${trimEndOf(issuer, "/")}/.well-known/openid-configuration`;
  const { value: metadata, aheadMs } = await readDocument(url, needs);
  const { issuer: named } = metadata;
  if (hrefOf(named) !== hrefOf(issuer)) {
    const hint =
      hrefOf(named) === undefined
        ? IDENTIFIER_HINT
        : `If that is your company's provider, set RECEIVABLES_SIGN_IN_ISSUER=${String(named)}`;
    throw new Found(`${url} names another issuer: ${String(named)}`, hint);
  }
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"]) {
    const address = String(metadata[name] ?? "");
    if (address === "") throw new Found(`${url} names no ${name}`, PROVIDER_HINT);
    if (!isGuarded(address)) throw new Found(`${url}: ${name} is without TLS`, PROVIDER_HINT);
  }
  const { value } = await readDocument(String(metadata["jwks_uri"]), needs);
  const { keys } = value;
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new Found(`${String(metadata["jwks_uri"])} has no keys`, PROVIDER_HINT);
  }
  return [
    createPass(ISSUER, `${issuer} publishes its metadata and ${keys.length} signing keys`),
    ...(aheadMs === undefined ? [] : [checkClock(issuer, aheadMs)]),
  ];
};

type CompanySettings = NonNullable<Config["http"]["company"]>;

/** Asks the provider whether it knows the client, its redirect address and its secret. */
const checkClient = async (
  { publicUrl }: Config,
  company: CompanySettings,
  { fetch }: SignInNeeds,
): Promise<Check> => {
  if (publicUrl === undefined) {
    return createPass(
      CLIENT,
      `not checked: RECEIVABLES_PUBLIC_URL is not set`,
      `Register the redirect address of this server at the provider: its address with ${COMPANY_PATHS.callback}.`,
    );
  }
  const redirectUri = `${trimEndOf(publicUrl, "/")}${COMPANY_PATHS.callback}`;
  const fault = await checkCompanyClient({ ...company, fetch }, redirectUri);
  if (fault === undefined) {
    return createPass(CLIENT, `${company.issuer} accepts client, secret and ${redirectUri}`);
  }
  return fault.of === "request"
    ? createFault(
        CLIENT,
        `${company.issuer} refuses the client ${company.clientId} with the redirect address ${redirectUri} (${fault.why})`,
        `Register exactly this redirect address for the client at the provider, and check RECEIVABLES_SIGN_IN_CLIENT_ID and RECEIVABLES_PUBLIC_URL.`,
      )
    : createFault(
        CLIENT,
        `${company.issuer} refuses the secret of the client ${company.clientId} (${fault.why})`,
        "Check RECEIVABLES_SIGN_IN_CLIENT_SECRET: it may have expired at the provider. The client needs the authorization code flow.",
      );
};

const runChecks = async (check: string, act: () => Promise<Check[]>): Promise<Check[]> => {
  try {
    return await act();
  } catch (error) {
    return [
      error instanceof Found
        ? createFault(check, error.message, error.hint)
        : createFault(check, explainError(error), CONNECTION_HINT),
    ];
  }
};

const checkCompany = async (config: Config, needs: SignInNeeds): Promise<Check[]> => {
  const { company, passwords } = config.http;
  if (company === undefined) return [];
  const found = await runChecks(ISSUER, () => checkMetadata(company.issuer, needs));
  if (found.some(({ check, ok }) => check === ISSUER && !ok)) {
    if (passwords) return found;
    const only = "Nobody can sign in: RECEIVABLES_SIGN_IN_PASSWORDS=false accepts no passwords.";
    return found.map((one) => ({ ...one, hint: `${one.hint ?? ""} ${only}`.trim() }));
  }
  const client = await runChecks(CLIENT, async () => [await checkClient(config, company, needs)]);
  return [...found, ...client];
};

/** Returns the ids of clients in the file that no administrator has created. Other kinds of ids cannot be looked up. */
const listUnknownClients = async (config: Config, ids: readonly string[]): Promise<string[]> => {
  const own = [...new Set(ids)].filter(isDirectoryId);
  const unknown = await readStore(config, async (db) => {
    const found = await Promise.all(own.map((id) => findClient(db, id)));
    return own.filter((_id, index) => found[index] === undefined);
  });
  return unknown ?? own;
};

const checkProvider = async (issuer: string, path: string, needs: SignInNeeds): Promise<void> => {
  const hint = `Check the issuer in ${path}: it must be the identifier that its metadata names, at a public https address.`;
  const keys = await countProviderKeys(issuer, needs).catch((error: unknown) => {
    throw new Found(explainError(error), hint);
  });
  if (keys === 0) throw new Found(`${issuer} publishes no keys`, hint);
};

const checkProviders = async (config: Config, needs: SignInNeeds): Promise<Check[]> => {
  const { identityProvidersFile: path } = config.http;
  if (path === undefined) return [];
  return runChecks(PROVIDERS, async () => {
    const providers = readProvidersFile(path);
    for (const { issuer } of providers) await checkProvider(issuer, path, needs);
    const unknown = await listUnknownClients(
      config,
      providers.flatMap(({ clients }) => clients),
    );
    if (unknown.length > 0) {
      const hint = `List clients with admin client list, and correct clients in ${path}.`;
      throw new Found(`${path} names clients that do not exist: ${unknown.join(", ")}`, hint);
    }
    const issuers = providers.map(({ issuer }) => issuer).join(", ");
    return [createPass(PROVIDERS, `${path}: ${issuers} publish their keys`)];
  });
};

const readProvidersFile = (path: string) => {
  try {
    return readIdentityProviders(path);
  } catch (error) {
    const form =
      '[{"issuer": "https://…", "clients": ["CLIENT ID"], "claim": "email", "emailVerified": "claim"}], mode 0600';
    throw new Found(getMessage(error), `Correct the file: ${form}.`);
  }
};

/** Returns a fault where the server would not start with these settings. */
const checkSettings = async (config: Config): Promise<Check[]> => {
  const { http, issuer } = config;
  const used = [http.company, http.identityProvidersFile, issuer?.personClaim];
  if (used.every((one) => one === undefined)) return [];
  try {
    await checkHttpSettings(config);
    return [];
  } catch (error) {
    return [createFault("sign_in", getMessage(error), "Servers do not start with these settings.")];
  }
};

/**
 * Checks the settings of people's sign-in: the company's provider, and the identity providers whose assertions are
 * accepted.
 */
export const checkSignIn = async (config: Config, needs: SignInNeeds): Promise<Check[]> => [
  ...(await checkSettings(config)),
  ...(await checkCompany(config, needs)),
  ...(await checkProviders(config, needs)),
];
