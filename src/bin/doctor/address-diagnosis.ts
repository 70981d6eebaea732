import { probe, type ProbeOptions, type ProbeResult } from "../../client/probe.ts";
import { contract } from "../../contract/index.ts";
import { SECOND, systemClock } from "../../kit/clock.ts";
import { isRecord, parseIfJson } from "../../kit/json.ts";
import { isLoopback } from "../../kit/network.ts";
import { findProxy } from "../../kit/proxy.ts";
import { trimEndOf } from "../../kit/text.ts";
import type { Config } from "../../config/config.ts";

/** The answer of an address, and the cause and the remedy if it is not that of a platform. */
export type Diagnosis = {
  ok: boolean;
  found: string;
  hint?: string;
  /** The platform's clock minus this machine's, in milliseconds. */
  aheadMs?: number | undefined;
};

export type Service = "gateway" | "export";

type Answer = Extract<ProbeResult, { answers: true }>;

/** A read of each service that every platform has, and refuses without a credential. */
const PATHS: Record<Service, string> = {
  gateway: contract.users.profile.path,
  export: contract.payments.schema.path,
};

const SETTINGS: Record<Service, string> = {
  gateway: "RECEIVABLES_BASE_URL (--base-url)",
  export: "RECEIVABLES_EXT_BASE_URL (--ext-base-url)",
};

const PLAIN_ANSWERED = /EPROTO|ERR_SSL_(WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST|UNSUPPORTED)/;
const TLS_ANSWERED = /ECONNRESET|UND_ERR_SOCKET|HPE_|HTTPParserError|EPIPE/;
const CERTIFICATE = /CERT|TLS|SSL|SIGNATURE/;
const TIMEOUT = /Timeout|TIMEOUT|ETIMEDOUT/;

/** Whether an answer is the refusal of a platform: one of its problems, or a bare refusal. */
const isPlatform = ({ status, type, body }: Answer): boolean => {
  if (status !== 401 && status !== 403 && status !== 429) return false;
  const value = parseIfJson(body);
  return body === "" || (isRecord(value) && ("code" in value || "error" in value)) || type === "";
};

/** The certificate faults whose remedy is not another authority. */
const CERTIFICATE_FAULTS: readonly (readonly [RegExp, string, string])[] = [
  [
    /CERT_HAS_EXPIRED/,
    "its certificate has expired",
    "Its operator renews the certificate. If it is still valid, this machine's clock is wrong.",
  ],
  [/CERT_NOT_YET_VALID/, "its certificate is not valid yet", "Check this machine's clock."],
  [
    /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    "its certificate is for other names",
    "Check the spelling of the host name, and use a name that the certificate has.",
  ],
];

const explainCertificate = (url: string, why: string): Diagnosis => {
  const [, found, hint] = CERTIFICATE_FAULTS.find(([codes]) => codes.test(why)) ?? [
    /^/,
    "this machine does not trust its certificate",
    "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority, or NODE_USE_SYSTEM_CA=1 if this machine's system trusts it.",
  ];
  return { ok: false, found: `${url}: ${found} (${why})`, hint };
};

const withProtocol = (url: string, protocol: "http:" | "https:"): string =>
  url.replace(/^https?:/, protocol);

type Context = {
  url: string;
  service: Service;
  options: ProbeOptions;
  /** The proxy on the way, without its credentials; undefined for a direct connection. */
  proxy: string | undefined;
};

const explainProxy = ({ url, proxy }: Context, why: string): Diagnosis => {
  const { protocol, hostname } = new URL(url);
  const setting = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const found = `${url}: no answer through the proxy ${proxy} (${why})`;
  const login = "The proxy asks for a user name: write it as http://USER:PASSWORD@HOST:PORT in";
  return {
    ok: false,
    found,
    hint: /407/.test(why)
      ? `${login} ${setting}.`
      : `Check ${setting}, or add ${hostname} to NO_PROXY to reach it directly.`,
  };
};

/** Explains why an https address that was asked did not speak TLS. */
const explainPlain = async ({ url, options }: Context, why: string): Promise<Diagnosis> => {
  const plain = withProtocol(url, "http:");
  const { answers } = await probe(plain, options);
  return {
    ok: false,
    found: `${url}: the server does not speak TLS at this port (${why})`,
    hint: answers
      ? `It answers plain http: use ${plain}, but only within this machine or a private network.`
      : "Check the port: https usually has 443.",
  };
};

/** Returns the https form of an http address at which a server with TLS answers; undefined if none does. */
const findTls = async ({ url, options }: Context): Promise<string | undefined> => {
  const secure = withProtocol(url, "https:");
  const reached = await probe(secure, options);
  return reached.answers || (CERTIFICATE.test(reached.why) && !PLAIN_ANSWERED.test(reached.why))
    ? secure
    : undefined;
};

const explainTls = (url: string, secure: string, why: string): Diagnosis => ({
  ok: false,
  found: `${url}: the server speaks TLS at this port (${why})`,
  hint: `Use ${secure}.`,
});

const explainSilence = async (context: Context, why: string): Promise<Diagnosis> => {
  const { url, proxy, options } = context;
  const { protocol, host, hostname } = new URL(url);
  if (proxy !== undefined && !/CERT|SIGNATURE/.test(why)) return explainProxy(context, why);
  if (protocol === "https:" && PLAIN_ANSWERED.test(why)) return explainPlain(context, why);
  if (protocol === "https:" && CERTIFICATE.test(why)) return explainCertificate(url, why);
  if (protocol === "http:" && TLS_ANSWERED.test(why)) {
    const secure = await findTls(context);
    if (secure !== undefined) return explainTls(url, secure, why);
  }
  const fault = (found: string, hint: string): Diagnosis => ({
    ok: false,
    found: `${url}: ${found} (${why})`,
    hint,
  });
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) {
    return fault(
      `the host name ${hostname} does not resolve`,
      "Check its spelling, the network, and whether a proxy is needed (HTTPS_PROXY).",
    );
  }
  if (/ECONNREFUSED/.test(why)) {
    return fault(`nothing listens at ${host}`, "Start the platform, or check host and port.");
  }
  if (TIMEOUT.test(why)) {
    return fault(
      `no answer within ${options.timeoutMs / SECOND} s`,
      "Check host and port; a firewall may be in between, or a proxy is needed (HTTPS_PROXY).",
    );
  }
  if (/HPE_|HTTPParserError/.test(why)) {
    return fault("the server does not speak HTTP at this port", "Check the port.");
  }
  return fault("the connection failed", "Check address, port, firewall and proxy.");
};

/** Returns the addresses above a path, the longest first. */
const listAncestors = (url: string): string[] => {
  const { origin, pathname } = new URL(url);
  const parts = trimEndOf(pathname, "/").split("/").slice(1);
  return parts.map(
    (_, index) =>
      origin +
      parts
        .slice(0, index)
        .map((one) => `/${one}`)
        .join(""),
  );
};

const MOST_ANCESTORS = 8;

/** Finds the platform above a path that is not its own. */
const findAbove = async ({ url, service, options }: Context): Promise<string | undefined> => {
  for (const base of listAncestors(url).toReversed().slice(0, MOST_ANCESTORS)) {
    // One after the other: the nearest one counts.
    const reached = await probe(base, options, PATHS[service]);
    if (reached.answers && isPlatform(reached)) return base;
  }
  return undefined;
};

const explainRedirect = ({ url, service }: Context, { status, location }: Answer): Diagnosis => {
  const found = `${url} answers with a redirect (${status})`;
  const path = PATHS[service];
  if (location?.pathname.endsWith(path) === true) {
    const base = location.origin + location.pathname.slice(0, -path.length);
    return {
      ok: false,
      found: `${found} to ${base}`,
      hint: `Set ${SETTINGS[service]} to ${base}.`,
    };
  }
  const where = location === undefined ? "" : ` to ${location.origin}`;
  const hint = "No credential follows it: set the platform's own address, without a sign-in page.";
  return { ok: false, found: `${found}${where}`, hint };
};

const explainOther = async (context: Context, answer: Answer): Promise<Diagnosis> => {
  const { url, service, proxy } = context;
  const { status, type } = answer;
  const fault = (found: string, hint: string): Diagnosis => ({ ok: false, found, hint });
  if (status >= 300 && status <= 399) return explainRedirect(context, answer);
  if (status === 407) return explainProxy(context, "407");
  if (status === 400 && new URL(url).protocol === "http:") {
    // Servers with TLS answer so to plain http.
    const secure = await findTls(context);
    if (secure !== undefined) return explainTls(url, secure, "status 400");
  }
  if (status >= 500) {
    const hint = "The platform, or a proxy before it, fails: try again later, or ask its operator.";
    return fault(`${url} answers with status ${status}`, hint);
  }
  const base = await findAbove(context);
  if (base !== undefined) {
    return fault(
      `${url} is not the platform's base address (status ${status})`,
      `The platform answers at ${base}: set ${SETTINGS[service]} to it.`,
    );
  }
  const hint = `Check host, port and path: ${SETTINGS[service]} is the part before ${PATHS[service]}.`;
  return fault(
    `${url} answers (status ${status}${type === "" ? "" : `, ${type}`}), but is not a platform`,
    proxy === undefined
      ? hint
      : `${hint} The answer may be that of the proxy ${proxy}: check its user name and password, too.`,
  );
};

const explainPlatform = ({ url }: Context, { aheadMs }: Answer): Diagnosis => {
  const { protocol, hostname } = new URL(url);
  const about = { ok: true, aheadMs };
  if (protocol === "https:") return { ...about, found: `${url} answers, over TLS` };
  if (isLoopback(hostname)) return { ...about, found: `${url} answers` };
  const hint = "Use https unless the network is private: others on it can read the credential.";
  return { ...about, found: `${url} answers, without TLS`, hint };
};

/** Asks an address whether it is a platform, and explains what is wrong if it is not. Sends no credential. */
export const diagnoseAddress = async (
  given: string,
  service: Service,
  { requestMs, headerWord, network }: Pick<Config, "requestMs" | "headerWord" | "network">,
): Promise<Diagnosis> => {
  const url = trimEndOf(given, "/");
  const headers = { [`x-${headerWord.toLowerCase()}-mcp-tool`]: "doctor" };
  const options = { clock: systemClock, timeoutMs: requestMs, headers };
  const proxy = findProxy(network.proxies, new URL(url))?.origin;
  const context = { url, service, options, proxy };
  const reached = await probe(url, options, PATHS[service]);
  if (!reached.answers) return explainSilence(context, reached.why);
  return isPlatform(reached) ? explainPlatform(context, reached) : explainOther(context, reached);
};
