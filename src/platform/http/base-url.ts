import type { IncomingMessage } from "node:http";

export type BaseUrlNeeds = {
  /** What proxies in front of this service are reached by; undefined where there is none. */
  publicUrl: string | undefined;
  /** Where whoever calls in memory reaches this process over a socket. */
  ownUrl(): Promise<string>;
};

/** Where a request's sender reaches this service, without a slash at its end. */
export const createBaseUrlOf =
  ({ publicUrl, ownUrl }: BaseUrlNeeds) =>
  async (request: Request, incoming: IncomingMessage | undefined): Promise<string> => {
    if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, "");
    return incoming === undefined ? ownUrl() : new URL(request.url).origin;
  };
