import type { RequestListener } from "node:http";
import { systemClock } from "../../kit/clock.ts";
import { createSecretPageHandler } from "../../mcp/http/secret-page-handler.ts";
import { createSecretPages, type SecretPages } from "../../mcp/tools/secret-pages.ts";
import { openSealingKey, type Shared } from "./compose.ts";
import type { Entrance } from "./entrance.ts";
import { readBrand } from "./operator.ts";
import { failedPage } from "../../server/failures.ts";
import { createMcpListener } from "../../server/serve.ts";

export type SecretPlace = {
  pages: SecretPages;
  /** Answers requests for the pages. */
  listener: RequestListener;
};

/** Opens the pages on which people on other machines get the secrets that tools stored for them. */
export const openSecretPages = async (
  shared: Shared,
  { base, keyMaker }: { base: string; keyMaker: Entrance["keyMaker"] },
): Promise<SecretPlace> => {
  const { vault, log, replayGuard } = shared;
  const key = await openSealingKey(shared);
  const signsIn = keyMaker !== undefined;
  const pages = createSecretPages({ key, base, now: systemClock, signsIn });
  const answer = createSecretPageHandler({
    pages,
    vault,
    replayGuard,
    now: systemClock,
    log,
    brand: readBrand(shared.config),
  });
  const listener: RequestListener = (incoming, response) => {
    const createOwnKey = keyMaker?.(incoming);
    return createMcpListener({ fetch: (request) => answer(request, createOwnKey) }, failedPage)(
      incoming,
      response,
    );
  };
  return { pages, listener };
};
