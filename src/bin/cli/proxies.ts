import { findProxyFaults, readProxies, setProxies, toProxyEnv } from "../../kit/proxy.ts";

/** Sends the requests of this process through the proxies that the environment names. Wrong names are reported later. */
export const openProxies = async (env: Record<string, string | undefined>): Promise<void> => {
  const proxies = readProxies(env);
  if (findProxyFaults(proxies).length > 0) return;
  setProxies(proxies);
  const proxyEnv = toProxyEnv();
  if (proxyEnv === undefined) return;
  // For `fetch` and libraries; pools of connections of this program use the same proxies.
  const { setGlobalProxyFromEnv } = await import("node:http");
  setGlobalProxyFromEnv(proxyEnv);
};
