import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";
import { authorizationOf, findProxy, getProxies } from "../kit/proxy.ts";

/** Creates a pool of connections, through the proxies of this process where it has one for the address. */
export const createDispatcher = (options: Agent.Options): Dispatcher =>
  new Agent({
    ...options,
    factory(origin, poolOptions: Pool.Options) {
      const proxy = findProxy(getProxies(), new URL(origin));
      if (proxy === undefined) return new Pool(origin, poolOptions);
      const token = authorizationOf(proxy);
      return new ProxyAgent({
        ...poolOptions,
        uri: proxy.href,
        ...(token === undefined ? {} : { token }),
      });
    },
  });
