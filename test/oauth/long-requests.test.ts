import { describe, expect, it } from "vitest";
import { openBrowser, type Shown } from "../support/browser.ts";
import { authorizeUrl, redeem, register, signIn } from "../support/oauth.ts";
import { makePkce } from "../support/pkce.ts";
import { verifies } from "../support/verifies.ts";
import { useAuthorization, usePlatform } from "./setup.ts";

const at = usePlatform();
const oauth = useAuthorization(at);

/** The buffer of nginx for the header of a response, and half of its buffer for a request line. */
const [MAX_HEAD, MAX_LINE] = [4096, 8192];

const headOf = ({ headers }: Pick<Response, "headers">): number =>
  [...headers].reduce((length, [name, value]) => length + name.length + value.length + 4, 200);

/** The address to which a page leads by itself. */
const refreshOf = (text: string): string | undefined =>
  /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");

verifies("HS-02", "HS-04");
describe("a long authorization request", () => {
  const openLong = async (state: string) => {
    const client = await register(oauth.running);
    const { verifier, challenge } = makePkce();
    const params = { code_challenge: challenge, state };
    return { client, verifier, url: authorizeUrl(oauth.running, client, params) };
  };
  /** Follows pages and redirects, and checks that a proxy passes each response and each address on. */
  const follow = async (browser: ReturnType<typeof openBrowser>, first: Shown): Promise<Shown> => {
    const { origin } = new URL(oauth.running.url);
    let shown = first;
    for (let hops = 0; hops < 5; hops += 1) {
      if (new URL(shown.url).origin !== origin) return shown;
      expect(headOf(shown)).toBeLessThan(MAX_HEAD);
      const to = shown.headers.get("location") ?? refreshOf(shown.text);
      if (to === undefined) return shown;
      const next = new URL(to, shown.url);
      expect(next.href.length).toBeLessThan(MAX_LINE);
      if (next.origin !== origin) return { ...shown, url: next.href };
      shown = await browser.ask(next.href);
    }
    throw new Error("more pages than a browser follows");
  };

  it.each([
    ["by GET", 1000],
    ["by GET", 3800],
    ["by POST", 3800],
  ])(
    "is answered within the limits of proxies, to its end: %s, %i characters",
    async (how, length) => {
      const state = "s".repeat(length);
      const { client, verifier, url } = await openLong(state);
      const browser = openBrowser();
      const { origin, pathname, searchParams } = new URL(url);
      const first =
        how === "by GET"
          ? await browser.ask(url)
          : await browser.ask(origin + pathname, { method: "POST", body: searchParams });
      const shown = await follow(browser, first);
      expect(shown.text).toContain("Sign in to connect");
      const consent = await signIn(
        { ...browser, submit: async (...sent) => follow(browser, await browser.submit(...sent)) },
        shown,
        oauth.ann,
      );
      const last = await follow(browser, await browser.submit(consent, { action: "allow" }));
      const answer = new URL(last.url).searchParams;
      expect(answer.get("state")).toBe(state);
      const redeemed = await redeem(oauth.running, {
        code: answer.get("code") ?? "",
        client,
        verifier,
      });
      expect(redeemed.status).toBe(200);
    },
  );

  it.each(["GET", "POST"])("is refused on a page where it is too long, by %s", async (method) => {
    const { url } = await openLong("s".repeat(14_000));
    const { origin, pathname, searchParams } = new URL(url);
    const shown = await fetch(method === "GET" ? url : origin + pathname, {
      method,
      redirect: "manual",
      ...(method === "GET" ? {} : { body: searchParams }),
    });
    expect(headOf(shown)).toBeLessThan(MAX_HEAD);
    expect(shown.headers.get("content-type")).toContain("text/html");
    expect(shown.headers.get("location")).toBeNull();
    expect(await shown.text()).toMatch(/too long|refresh/);
  });
});
