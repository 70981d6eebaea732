import { errors } from "oidc-provider";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const MOST_REDIRECTS = 20;
const LONGEST_REDIRECT = 2000;

/** Whether a URL leads to a program on the person's own machine. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.has(hostname);

const invalid = (message: string): never => {
  throw new errors.InvalidRedirectUri(message);
};

const checkRedirect = (text: unknown): URL => {
  const url = typeof text === "string" && text.length <= LONGEST_REDIRECT ? URL.parse(text) : null;
  if (url === null) return invalid("each of redirect_uris must be an absolute URL");
  if (url.username + url.password !== "" || url.hash !== "") {
    return invalid("redirect_uris must hold neither user names nor fragments");
  }
  const good = isLoopback(url) ? url.protocol === "http:" : url.protocol === "https:";
  return good ? url : invalid("redirect_uris must be https, or http on loopback");
};

/** Checks where a client may have people sent back to. On loopback any port is good, since programs take a free one. */
export const checkClient = (metadata: Record<string, unknown>): void => {
  const { redirect_uris: uris } = metadata;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MOST_REDIRECTS) {
    invalid(`redirect_uris must be a list of 1 to ${MOST_REDIRECTS}`);
    return;
  }
  const urls = uris.map(checkRedirect);
  metadata["application_type"] = urls.some(isLoopback) ? "native" : "web";
  // It is shown to people, but never fetched, linked or believed.
  delete metadata["logo_uri"];
  // Hosts name here what they first ask for. What they may ask for later is the person's to say, each time.
  delete metadata["scope"];
};
