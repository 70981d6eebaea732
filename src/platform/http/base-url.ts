import type { IncomingMessage } from "node:http";
import { trimEndOf } from "../../kit/text.ts";

export type BaseUrlNeeds = {
  /** Address of the proxy in front of this service; undefined where there is none. */
  publicUrl: string | undefined;
  /** Returns the address of this process for callers in the same process, who have no socket. */
  ownUrl(): Promise<string>;
};

/** Returns the path of a public URL, under which a proxy serves this service; empty where there is none. */
export const getPublicPath = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? "" : trimEndOf(new URL(publicUrl).pathname, "/");

/** Creates the function that returns the address at which a client reaches this service, without a trailing slash. */
export const createBaseUrlOf =
  ({ publicUrl, ownUrl }: BaseUrlNeeds) =>
  async (request: Request, incoming: IncomingMessage | undefined): Promise<string> => {
    if (publicUrl !== undefined) return trimEndOf(publicUrl, "/");
    return incoming === undefined ? ownUrl() : new URL(request.url).origin;
  };
