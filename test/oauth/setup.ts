import { afterAll, beforeAll } from "vitest";
import { openBrowser } from "../support/browser.ts";
import {
  authorizeUrl,
  type Registered,
  register,
  type Running,
  startAuthorization,
} from "../support/oauth.ts";
import { makePkce } from "../support/pkce.ts";
import { type Person, startPlatform, type TestPlatform } from "../support/platform.ts";

/** Starts a platform before the tests of a file and closes it after them. */
export const usePlatform = (): (() => TestPlatform) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.close());
  return () => platform;
};

/** Starts an authorization server and creates the user `ann` before the tests, and closes the server after them. */
export const useAuthorization = (at: () => TestPlatform): { ann: Person; running: Running } => {
  const oauth = {} as { ann: Person; running: Running };
  beforeAll(async () => {
    oauth.ann = await at().tenant("acme");
    oauth.running = await startAuthorization(at());
  });
  afterAll(() => oauth.running.close());
  return oauth;
};

/** Opens the first page of a sign-in in a new browser, for a new client by default. */
export const openSignIn = async (
  running: Pick<Running, "url" | "resource">,
  { client, ...asked }: { client?: Registered } & Record<string, unknown> = {},
) => {
  const browser = openBrowser();
  const own = client ?? (await register(running));
  const { verifier, challenge } = makePkce();
  const params = { code_challenge: challenge, ...(asked as Record<string, string | undefined>) };
  const shown = await browser.open(authorizeUrl(running, own, params));
  return { browser, shown, client: own, verifier };
};
