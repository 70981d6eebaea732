import { Agent, type Dispatcher, Pool, ProxyAgent, setGlobalDispatcher } from "undici";
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

/** Lets `fetch`, which libraries use, send its requests as the pools of this program do. */
export const useProxiesInFetch = (): void => setGlobalDispatcher(createDispatcher({}));
