import type { IncomingMessage, RequestListener } from "node:http";
import { createLazy } from "../kit/lazily.ts";
import type { Platform } from "../platform/platform.ts";
import type { Served } from "./serve.ts";

/** A server for file transfers alone, on a free port of this machine. */
export type TransferServer = {
  /** Starts the server at the first call. */
  url(): Promise<string>;
  close(): Promise<void>;
};

const isTransfer = ({ url }: IncomingMessage): boolean =>
  /^\/(uploads|downloads)\/[^/]+(\?|$)/.test(url ?? "");

const restrictToTransfers =
  (serve: RequestListener): RequestListener =>
  (request, response) => {
    if (isTransfer(request)) return serve(request, response);
    return response.writeHead(404, { Connection: "close" }).end();
  };

/** Creates the server that makes signed URLs usable when the platform is called in memory. */
export const createTransferServer = (platform: () => Pick<Platform, "fetch">): TransferServer => {
  let opened: Served | undefined;
  const open = createLazy(async () => {
    const { createPlatformListener: platformListener, serve } = await import("./serve.ts");
    const listener = restrictToTransfers(platformListener(platform()));
    opened = await serve(listener, { host: "127.0.0.1", port: 0 });
    return opened;
  });
  return {
    url: async () => (await open()).url,
    close: async () => opened?.close(),
  };
};
