import { errors } from "oidc-provider";

const LOOPBACK_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"]);
const MAX_REDIRECT_URIS = 20;
const MAX_REDIRECT_URI_LENGTH = 2000;

/** Whether a redirect URI leads to a program on the person's own computer (RFC 8252, section 7.3). */
export const isLoopbackRedirect = ({ hostname }: URL): boolean => LOOPBACK_HOSTS.has(hostname);

const invalid = (message: string): errors.InvalidRedirectUri =>
  new errors.InvalidRedirectUri(message);

const parseRedirectUri = (text: unknown): URL => {
  const url =
    typeof text === "string" && text.length <= MAX_REDIRECT_URI_LENGTH ? URL.parse(text) : null;
  if (url === null) throw invalid("each of redirect_uris must be an absolute URL");
  if (url.username + url.password !== "" || url.hash !== "") {
    throw invalid("redirect_uris must hold neither user names nor fragments");
  }
  if (url.protocol !== (isLoopbackRedirect(url) ? "http:" : "https:")) {
    throw invalid("redirect_uris must be https, or http on loopback");
  }
  return url;
};

/**
 * Checks a client's redirect URIs and removes metadata that this server does not use. Loopback redirects make the
 * client native, so that any port matches (RFC 8252, section 7.3).
 * @throws {errors.InvalidRedirectUri} for a URI that is neither https nor http on loopback
 */
export const checkClient = (metadata: Record<string, unknown>): void => {
  const { redirect_uris: uris } = metadata;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    throw invalid(`redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS}`);
  }
  const urls = uris.map(parseRedirectUri);
  metadata["application_type"] = urls.some(isLoopbackRedirect) ? "native" : "web";
  // The pages load nothing from other origins.
  delete metadata["logo_uri"];
  // Hosts register the scopes of their first request; the provider would refuse later requests for more.
  delete metadata["scope"];
};
