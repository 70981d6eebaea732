import { isIP } from "node:net";
import { createNetworks, findRange, isLoopback, isNetwork, trimBrackets } from "./network.ts";
import { trimEndOf } from "./text.ts";

/** The proxies of outgoing requests, as the environment names them: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
export type Proxies = {
  https: string | undefined;
  http: string | undefined;
  /** Hosts that are reached directly, as `NO_PROXY` lists them. Addresses of this machine always are. */
  none: string;
};

type Env = Record<string, string | undefined>;

/** Files of environment variables keep quotes that a shell removes. */
const withoutQuotes = (text: string): string => text.replace(/^(["'])(.*)\1$/, "$2").trim();

/** Small letters win, as in curl. An empty value counts as unset. */
const read = (env: Env, name: string): string | undefined =>
  [env[name.toLowerCase()], env[name]]
    .map((value) => value && withoutQuotes(value.trim()))
    .find((value) => value);

const isEncoded = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** Encodes the percent signs of a part of a URL in which they encode nothing. */
const encodePercent = (text: string): string =>
  isEncoded(text) ? text : text.replaceAll("%", "%25");

/** Returns the URL of a proxy, http unless it has a scheme; a password may be written as it is. */
const readProxy = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const named = text.includes("://") ? text : `http://${text}`;
  const url = URL.parse(named);
  if (url === null || (isEncoded(url.username) && isEncoded(url.password))) return named;
  url.username = encodePercent(url.username);
  url.password = encodePercent(url.password);
  return url.href;
};

export const readProxies = (env: Env): Proxies => ({
  https: readProxy(read(env, "HTTPS_PROXY")),
  http: readProxy(read(env, "HTTP_PROXY")),
  none: read(env, "NO_PROXY") ?? "",
});

/** Returns what is wrong with the names of proxies; empty if they can be used. */
export const findProxyFaults = ({ https, http }: Proxies): string[] =>
  Object.entries({ HTTPS_PROXY: https, HTTP_PROXY: http }).flatMap(([name, text]) =>
    text === undefined || /^https?:$/.test(URL.parse(text)?.protocol ?? "")
      ? []
      : [`${name} must be an http or https URL, such as http://proxy.example:3128`],
  );

const listEntries = (none: string): string[] =>
  none
    .toLowerCase()
    .split(/[\s,;]/)
    .filter((entry) => entry !== "");

/** Returns a host's name or address as URLs have it, without brackets and final dot. */
const toHost = (text: string): string => {
  const name = trimEndOf(trimBrackets(text), ".");
  const inUrl = isIP(name) === 6 ? `[${name}]` : name;
  return trimBrackets(URL.parse(`http://${inUrl}`)?.hostname ?? name);
};

/**
 * Whether an entry of NO_PROXY covers a host: the name, a domain with or without `.` or `*.` before it, an address, a
 * network in CIDR form, or `*`; all but networks also with a port.
 */
const covers = (entry: string, host: string, port: string): boolean => {
  if (isNetwork(entry)) return createNetworks([entry]).includes(host);
  const [, name = "", entryPort] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  if (name === "*") return true;
  const domain = toHost(name.replace(/^\*?\./, ""));
  return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
};

/** Returns the proxy for requests to a URL; undefined for a direct connection. */
export const findProxy = ({ https, http, none }: Proxies, url: URL): URL | undefined => {
  const proxy = url.protocol === "https:" ? https : http;
  if (proxy === undefined || isLoopback(url.hostname)) return undefined;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = toHost(url.hostname);
  return listEntries(none).some((entry) => covers(entry, host, port)) ? undefined : new URL(proxy);
};

/** Returns the authorization at a proxy; undefined if its URL has neither user nor password. */
export const authorizationOf = ({ username, password }: URL): string | undefined => {
  if (username === "" && password === "") return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
};

const DIRECT: Proxies = { https: undefined, http: undefined, none: "" };

let current = DIRECT;

/** Sets the proxies of this process, once, before its first request. */
export const setProxies = (proxies: Proxies): void => {
  current = proxies;
};

export const getProxies = (): Proxies => current;

/** Returns the entries with which the agents of Node.js recognize what an entry of NO_PROXY covers. */
const toAgentEntries = (entry: string): string[] => {
  if (isIP(entry) === 6) return [entry, `[${entry}]`];
  if (isNetwork(entry)) return [findRange(entry)?.join("-") ?? entry];
  const name = entry.replace(/^\*?\./, "");
  return name.startsWith("*") || name.startsWith("[") ? [name] : [name, `.${name}`];
};

/** Returns the proxies in the form that agents of Node.js take; undefined where there are none. */
export const toProxyEnv = ():
  | { HTTPS_PROXY?: string; HTTP_PROXY?: string; NO_PROXY: string }
  | undefined => {
  const { https, http, none } = current;
  if (https === undefined && http === undefined) return undefined;
  return {
    ...(https === undefined ? {} : { HTTPS_PROXY: https }),
    ...(http === undefined ? {} : { HTTP_PROXY: http }),
    NO_PROXY: [...listEntries(none), "localhost", "127.0.0.0/8", "::1"]
      .flatMap(toAgentEntries)
      .join(","),
  };
};
