import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { toProxyEnv } from "../kit/proxy.ts";

/** Creates a pool of connections, through the proxies of this process if it has any. */
export const createDispatcher = (options: Agent.Options): Dispatcher => {
  const proxies = toProxyEnv();
  if (proxies === undefined) return new Agent(options);
  const { HTTP_PROXY: httpProxy = "", HTTPS_PROXY: httpsProxy = "", NO_PROXY: noProxy } = proxies;
  return new EnvHttpProxyAgent({ ...options, httpProxy, httpsProxy, noProxy });
};
