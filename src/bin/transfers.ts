import type { TransferNeeds, Transfers } from "../client/transfers.ts";
import { createLazy } from "../kit/lazily.ts";
import { createNetworks } from "../kit/network.ts";
import { createResolve } from "../kit/resolve.ts";
import type { Config } from "./config.ts";

/** Whether a URL belongs to the configured platform; the embedded platform signs URLs of this process. */
const isOwn = ({ remote }: Pick<Config, "remote">): TransferNeeds["isOwn"] => {
  if (remote === undefined) return () => true;
  const hosts = [remote.gateway, remote.export].map((base) => new URL(base).host);
  return ({ host }) => hosts.includes(host);
};

/** Creates file transfers; their code is loaded at the first one. */
export const createLazyTransfers = (config: Pick<Config, "remote" | "requestMs">): Transfers => {
  const open = createLazy(async () => {
    const { createTransfers } = await import("../client/transfers.ts");
    const { requestMs } = config;
    const hosts = { resolve: createResolve(), allowed: createNetworks([]) };
    return createTransfers({ isOwn: isOwn(config), requestMs, ...hosts });
  });
  return {
    put: async (url, file, signal) => (await open()).put(url, file, signal),
    get: async (url, wanted, signal) => (await open()).get(url, wanted, signal),
  };
};
