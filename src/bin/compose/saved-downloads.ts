import type { RequestListener } from "node:http";
import { systemClock } from "../../kit/clock.ts";
import { createSavedHandler } from "../../mcp/http/saved-handler.ts";
import { createSavedLinks, type SavedLinks } from "../../mcp/tools/saved-links.ts";
import { failedPage } from "../../server/failures.ts";
import { createMcpListener } from "../../server/serve.ts";
import type { Config } from "../../config/config.ts";
import { openSealingKey, type Shared } from "./compose.ts";
import { placeOf } from "./saved-places.ts";

/** The downloads of saved tables over HTTP. */
export type SavedDownloads = {
  /** Returns the addresses of the tables that callers of this platform save. */
  linksOf(config: Pick<Config, "remote">): SavedLinks;
  listener: RequestListener;
};

/** Opens the downloads of saved tables below the server's public address. */
export const openSavedDownloads = async (shared: Shared, base: string): Promise<SavedDownloads> => {
  const key = await openSealingKey(shared);
  const { savedPlaces } = shared;
  const linksOf: SavedDownloads["linksOf"] = (config) =>
    createSavedLinks({ key, base, now: systemClock, place: placeOf(config) });
  const answer = createSavedHandler(linksOf(shared.config), (place) =>
    place === "records" ? savedPlaces.records : savedPlaces.platform,
  );
  return { linksOf, listener: createMcpListener({ fetch: answer }, failedPage) };
};
