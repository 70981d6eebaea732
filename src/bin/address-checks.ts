import { probe } from "../client/probe.ts";
import { SECOND, systemClock } from "../kit/clock.ts";
import { isLoopback } from "../kit/network.ts";
import { type Check, createFault, createPass } from "./checks.ts";
import type { Config } from "./config.ts";

const MOST_SKEW_MS = 60 * SECOND;

const findHint = (why: string): string => {
  if (/CERT|TLS|SSL|SIGNATURE/.test(why)) {
    return "This machine does not trust its certificate: set NODE_EXTRA_CA_CERTS to the authority's file.";
  }
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return "The host name does not resolve: check its spelling.";
  return "Check address, port, firewall and proxy.";
};

const checkTransport = (name: string, url: string, status: number): Check => {
  const { protocol, hostname } = new URL(url);
  const found = `${url} answers (${status})`;
  if (protocol === "https:") return createPass(name, `${found}, over TLS`);
  if (isLoopback(hostname)) return createPass(name, found);
  const hint = "Use https unless the network is private: others on it can read the credential.";
  return createPass(name, `${found}, without TLS`, hint);
};

/** Checks this machine's clock against that of a server. */
export const checkClock = (url: string, aheadMs: number): Check => {
  const seconds = Math.round(Math.abs(aheadMs) / SECOND);
  if (Math.abs(aheadMs) <= MOST_SKEW_MS)
    return createPass("clock", `within ${seconds} s of ${url}`);
  const found = `${url} is ${seconds} s ${aheadMs > 0 ? "ahead" : "behind"}`;
  return createFault("clock", found, "Set this machine's clock.");
};

const checkAddress = async (
  name: "gateway" | "export_service",
  url: string,
  { requestMs, headerWord }: Config,
): Promise<Check[]> => {
  const reached = await probe(url, {
    clock: systemClock,
    timeoutMs: requestMs,
    headers: { [`x-${headerWord.toLowerCase()}-mcp-tool`]: "doctor" },
  });
  if (!reached.answers) return [createFault(name, `${url}: ${reached.why}`, findHint(reached.why))];
  const { aheadMs, status } = reached;
  const clock = aheadMs === undefined ? [] : [checkClock(url, aheadMs)];
  return [checkTransport(name, url, status), ...clock];
};

/** Checks that the platform can be reached, that the way is encrypted, and that the clocks agree. */
export const checkAddresses = async (config: Config): Promise<Check[]> => {
  const { remote } = config;
  if (remote === undefined) return [createPass("gateway", "embedded in this program")];
  const gateway = await checkAddress("gateway", remote.gateway, config);
  if (remote.export === remote.gateway) return gateway;
  return [...gateway, ...(await checkAddress("export_service", remote.export, config))];
};
