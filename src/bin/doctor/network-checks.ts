import { accessSync, constants } from "node:fs";
import { getCACertificates } from "node:tls";
import { type Check, createFault, createPass } from "./checks.ts";
import type { Config } from "../../config/config.ts";

/** Returns the address of a proxy without its credentials. */
const nameProxy = (text: string): string => new URL(text).origin;

const checkProxy = ({ proxies: { https, http, none } }: Config["network"]): Check => {
  const named = [
    ...(https === undefined ? [] : [`https through ${nameProxy(https)} (HTTPS_PROXY)`]),
    ...(http === undefined ? [] : [`http through ${nameProxy(http)} (HTTP_PROXY)`]),
  ];
  if (named.length === 0)
    return createPass("proxy", "none: HTTPS_PROXY and HTTP_PROXY are not set");
  const direct = none === "" ? "this machine" : `this machine, ${none} (NO_PROXY)`;
  return createPass("proxy", `${named.join(", ")}; directly: ${direct}`);
};

const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
};

const checkAuthorities = ({ caFile, usesSystemCa }: Config["network"]): Check => {
  const system = usesSystemCa ? ", those of the system" : "";
  if (caFile === undefined) {
    return createPass("authorities", `those of Node.js${system}; NODE_EXTRA_CA_CERTS is not set`);
  }
  const count = getCACertificates("extra").length;
  if (count > 0) {
    return createPass("authorities", `those of Node.js${system}, and ${count} of ${caFile}`);
  }
  const why = isReadable(caFile) ? "has no certificate as PEM" : "cannot be read";
  const hint =
    "Correct NODE_EXTRA_CA_CERTS: a file of certificates as PEM that this user can read.";
  return createFault("authorities", `${caFile} ${why}`, hint);
};

/** Says which proxies and certificate authorities outgoing requests use. */
export const checkNetwork = ({ network }: Config): Check[] => [
  checkProxy(network),
  checkAuthorities(network),
];
