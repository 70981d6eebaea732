import { errors } from "oidc-provider";
import { isRecord, parseIfJson } from "../kit/json.ts";
import { isDirectoryId } from "./directory.ts";
import { JWT_BEARER } from "./grant-types.ts";

type Metadata = Record<string, unknown>;

const LOOPBACK_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);
const MAX_REDIRECT_URIS = 20;
const MAX_REDIRECT_URI_LENGTH = 2000;

/**
 * Schemes that a browser, the system or another program handles by itself: the client would not receive the code, and a
 * sign-in would lead the person's browser to a program that acts on what it is given.
 */
const RESERVED_SCHEMES = new Set(
  "about afp android-app blob callto chrome cid cifs content data edge facetime feed file filesystem ftp ftps gopher help hcp intent itms itms-apps itms-services jar javascript ldap ldaps magnet mailto market microsoft-edge mid news nfs nntp rdp res resource rlogin search search-ms sftp shell sip sips skype sms smb ssh steam tel telnet tn3270 urn vbscript view-source vnc ws wss x-apple.systempreferences x-help zoommtg".split(
    " ",
  ),
);

/** Of programs of Windows, such as `ms-msdt`, which runs what it is given. */
const RESERVED_PREFIX = "ms-";

/** The grants that the server offers; an authorization code is what all of them start with. */
const GRANT_TYPES = ["authorization_code", "refresh_token"];

/** Texts that are registered as sent. */
const TEXTS = ["client_name", "software_id"];
const MAX_TEXT_LENGTH = 1000;

const isWeb = ({ protocol }: URL): boolean => protocol === "https:" || protocol === "http:";

/** Whether a redirect URI leads to a program on the person's own computer (RFC 8252, sections 7.1 and 7.3). */
export const isNativeRedirect = (url: URL): boolean =>
  !isWeb(url) || LOOPBACK_HOSTS.has(url.hostname);

/** The error `invalid_redirect_uri` of RFC 7591: the provider chooses the code by the first word of the reason. */
const invalid = (reason: string): errors.InvalidClientMetadata =>
  new errors.InvalidClientMetadata(reason);

/** Returns the reason why codes must not be sent to a URI; undefined for a safe one. */
const findRisk = (url: URL): string | undefined => {
  const scheme = url.protocol.slice(0, -1);
  if (url.username + url.password !== "") return "must not contain a user name";
  if (url.href.includes("#")) return "must not contain a fragment";
  if (RESERVED_SCHEMES.has(scheme) || scheme.startsWith(RESERVED_PREFIX)) {
    return `must not use the scheme ${scheme}`;
  }
  if (!url.href.startsWith(`${scheme}:/`)) return `must go on with / after ${scheme}:`;
  if (scheme === "http" && !isNativeRedirect(url)) {
    return "must be https; http is accepted for loopback addresses only";
  }
  return undefined;
};

const parseRedirectUri = (text: unknown, index: number): URL => {
  const name = `redirect_uris[${index}]`;
  if (typeof text !== "string") throw invalid(`${name} must be a text`);
  if (text.length > MAX_REDIRECT_URI_LENGTH) {
    throw invalid(`${name} must have at most ${MAX_REDIRECT_URI_LENGTH} characters`);
  }
  const url = URL.parse(text);
  if (url === null) throw invalid(`${name} must be an absolute URL`);
  const risk = findRisk(url);
  if (risk !== undefined) throw invalid(`${name} ${risk}`);
  return url;
};

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "");

/** Returns the members of a list that are not empty; a single value is a list of one. */
const toList = (value: unknown): unknown[] => [value].flat().filter((one) => !isEmpty(one));

/** Returns the redirect URIs, each once. @throws {errors.InvalidClientMetadata} for an unsafe one */
const readRedirectUris = (value: unknown): { texts: string[]; urls: URL[] } => {
  const trimmed = toList(value).map((one) => (typeof one === "string" ? one.trim() : one));
  const uris = [...new Set(trimmed)];
  if (uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    throw invalid(`redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} URLs`);
  }
  return { urls: uris.map(parseRedirectUri), texts: uris.map(String) };
};

const narrowGrantTypes = (value: unknown): string[] => {
  const named = toList(value);
  if (named.length === 0) return GRANT_TYPES;
  return GRANT_TYPES.filter((type) => type === "authorization_code" || named.includes(type));
};

/** Members that the provider sets or needs itself. */
const PROVIDER_MEMBERS = new Set([
  "client_id",
  "client_id_issued_at",
  "id_token_signed_response_alg",
  "require_auth_time",
  "subject_type",
]);

const readTexts = (metadata: Metadata): Metadata => {
  const named = TEXTS.flatMap((name) => {
    const value = metadata[name];
    return isEmpty(value) || typeof value !== "string"
      ? []
      : [[name, value.slice(0, MAX_TEXT_LENGTH)]];
  });
  return Object.fromEntries(named) as Metadata;
};

/** The members of a client that presents assertions only. */
const WITHOUT_REDIRECT: Metadata = {
  redirect_uris: [],
  grant_types: [JWT_BEARER],
  response_types: [],
};

/** Returns the authentication of a client that presents identity assertions; undefined for a public client. */
const readAssertionKeys = (metadata: Metadata): Metadata | undefined => {
  const { token_endpoint_auth_method: method, grant_types, jwks, jwks_uri } = metadata;
  if (method !== "private_key_jwt" || !toList(grant_types).includes(JWT_BEARER)) return undefined;
  const keys = isEmpty(jwks) ? { jwks_uri } : { jwks };
  return { token_endpoint_auth_method: method, ...keys };
};

/** Replaces the members of a client's metadata in place, apart from those of the provider. */
const replaceMetadata = (metadata: Metadata, narrowed: Metadata): void => {
  for (const name of Object.keys(metadata)) {
    if (!PROVIDER_MEMBERS.has(name) && !(name in narrowed)) delete metadata[name];
  }
  Object.assign(metadata, narrowed);
};

/**
 * Narrows what a client says about itself to what this server offers, in place (RFC 7591, section 3.2.1): members that
 * it does not use are dropped, empty ones count as absent, and each client is a public one that uses codes, unless it
 * presents identity assertions, for which it authenticates with a key. Redirects to
 * a program on the person's computer make the client native, so that any loopback port matches (RFC 8252, section 7.3).
 * @throws {errors.InvalidClientMetadata} for a redirect URI to which a code must not be sent
 */
const narrowClient = (metadata: Metadata, acceptsAssertions: boolean): void => {
  const keys = acceptsAssertions ? readAssertionKeys(metadata) : undefined;
  if (keys !== undefined && toList(metadata["redirect_uris"]).length === 0) {
    return replaceMetadata(metadata, { ...readTexts(metadata), ...keys, ...WITHOUT_REDIRECT });
  }
  const { texts, urls } = readRedirectUris(metadata["redirect_uris"]);
  const grantTypes = narrowGrantTypes(metadata["grant_types"]);
  replaceMetadata(metadata, {
    ...readTexts(metadata),
    redirect_uris: texts,
    grant_types: keys === undefined ? grantTypes : [...grantTypes, JWT_BEARER],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: urls.some(isNativeRedirect) ? "native" : "web",
    ...keys,
  });
};

/**
 * Narrows the metadata of a client as the provider parses it. The provider's own check of redirect URIs, which refuses
 * https on loopback, is replaced by the one of {@link narrowClient}.
 */
export const checkClient = (metadata: Metadata, acceptsAssertions: boolean): void => {
  metadata["id_token_signed_response_alg"] = "EdDSA";
  metadata["require_auth_time"] = false;
  metadata["subject_type"] = "public";
  // Administrators' clients come from the store, and have no redirect URI.
  if (!isDirectoryId(metadata["client_id"])) narrowClient(metadata, acceptsAssertions);
  // Not enumerable, because the provider copies the members of this object.
  Object.defineProperty(metadata, "redirectUris", { value: () => {}, configurable: true });
};

/** The members of a metadata document that are read; a document with a secret is refused by the provider. */
const DOCUMENT_MEMBERS = ["client_id", "redirect_uris", "grant_types", "client_secret", ...TEXTS];

/** The members with which a client authenticates that presents identity assertions. */
const KEY_MEMBERS = ["token_endpoint_auth_method", "jwks", "jwks_uri", "keys"];

const narrowText = (text: string, acceptsAssertions: boolean): string => {
  const document = parseIfJson(text);
  if (!isRecord(document)) return text;
  const members = acceptsAssertions ? [...DOCUMENT_MEMBERS, ...KEY_MEMBERS] : DOCUMENT_MEMBERS;
  const entries = Object.entries(document).filter(
    ([name, value]) => members.includes(name) && !isEmpty(value),
  );
  return JSON.stringify(Object.fromEntries(entries));
};

/**
 * Drops from a client's metadata document what this server does not use, before the provider checks it: for example a
 * key for `private_key_jwt`, where no identity assertions are accepted. The client is a public one then. A set of keys is
 * passed on where they are.
 */
export const narrowDocument = async (
  response: Response,
  acceptsAssertions: boolean,
): Promise<Response> => {
  if (response.status !== 200) return response;
  const { status, headers } = response;
  const text = narrowText(await response.text(), acceptsAssertions);
  return new Response(text, { status, headers });
};
