import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { openBrowser, type Shown } from "../support/browser.ts";
import {
  authorize,
  type Login,
  redeem,
  refresh,
  type Running,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { useAuthorization } from "./setup.ts";

const QUESTION = 'Delete department SALES ("Sales & <service>")?\n1. It is gone for good.';
const SHOWN =
  "Delete department SALES (&quot;Sales &amp; &lt;service&gt;&quot;)?\n1. It is gone for good.";

const expectQuestion = ({ status, text }: Shown): void => {
  expect([status, text.includes(SHOWN)]).toEqual([200, true]);
};

onEveryStore("the approval page", (at) => {
  const oauth = useAuthorization(at);

  /** Connects a program for a person, and returns the person's id. */
  const connect = async (person: Login, running: Running = oauth.running) => {
    const coded = await authorize(running, person);
    const { body } = await redeem(running, coded);
    const holder = await running.server.verifyToken(body.access_token);
    if (holder === undefined) throw new Error("no token");
    return { personId: holder.personId, coded, body };
  };

  /** Signs a person in to the pages of their account. */
  const visit = async (person: Login, running: Running = oauth.running) => {
    const browser = openBrowser();
    const account = await browser.open(`${running.url}/oauth/account`);
    return { browser, list: await signIn(browser, account, person) };
  };

  const ask = async (personId: string, running: Running = oauth.running) => {
    const id = randomBytes(32).toString("base64url");
    const expiresAt = Date.now() + 10 * MINUTE;
    const url = await running.server.openApproval({ id, personId, question: QUESTION, expiresAt });
    return { id, url: url ?? "", decision: () => running.server.findDecision({ id, personId }) };
  };

  verifies("WK-10", "WK-13");
  it("exists for a person with a signed-in browser only, until they sign out", async () => {
    const max = await at().person("acme", { roles: ["Administrator"] });
    const { personId } = await connect(max);
    expect((await ask(personId)).url).toBe("");
    expect((await ask("nobody")).url).toBe("");
    const { browser, list } = await visit(max);
    expect((await ask(personId)).url).toMatch(
      new RegExp(`^${oauth.running.url}/oauth/account/approve/[\\w-]{43}$`),
    );
    await browser.submit(list, { action: "sign-out" });
    expect((await ask(personId)).url).toBe("");
  });

  verifies("WK-13");
  it.each([
    ["approve", "approved", "You approved this change"],
    ["decline", "declined", "You declined this change"],
  ])("takes one answer (%s)", async (action, decision, title) => {
    const { personId } = await connect(oauth.ann);
    const { browser } = await visit(oauth.ann);
    const asked = await ask(personId);
    const page = await browser.open(asked.url);
    expectQuestion(page);
    expect(await asked.decision()).toBeUndefined();
    for (const sent of [action, "approve", "decline"]) {
      const after = await browser.submit(page, { action: sent });
      expect(after.text).toContain(title);
      expect(after.text).not.toContain("<form");
      expect(await asked.decision()).toBe(decision);
    }
    const { id } = asked;
    expect(await oauth.running.server.findDecision({ id, personId: "other" })).toBeUndefined();
  });

  verifies("WK-13");
  it("counts the first of two answers that come at once", async () => {
    const { personId } = await connect(oauth.ann);
    const { browser } = await visit(oauth.ann);
    const asked = await ask(personId);
    const page = await browser.open(asked.url);
    const answers = await Promise.all(
      ["approve", "decline"].map((action) => browser.submit(page, { action })),
    );
    const decision = await asked.decision();
    for (const { text } of answers) expect(text).toContain(`You ${decision} this change`);
  });

  verifies("WK-13");
  it("asks a browser without a person to sign in, and says nothing of the question", async () => {
    const { personId } = await connect(oauth.ann);
    await visit(oauth.ann);
    const asked = await ask(personId);
    const browser = openBrowser();
    const entry = await browser.open(asked.url);
    expect(entry.text).toContain("Sign in to answer");
    expect(entry.text).not.toContain("SALES");
    const wrong = await browser.submit(entry, {
      email: oauth.ann.email,
      password: "wrong",
      action: "sign-in",
    });
    expect(wrong.status).toBe(400);
    const both = await Promise.all([1, 2].map(() => signIn(browser, entry, oauth.ann)));
    both.forEach(expectQuestion);
    await browser.submit(both[0] as Shown, { action: "approve" });
    expect(await asked.decision()).toBe("approved");
  });

  verifies("WK-13", "HS-03");
  it("says why a browser without cookies cannot sign in, here and on the account page", async () => {
    const { personId } = await connect(oauth.ann);
    await visit(oauth.ann);
    const asked = await ask(personId);
    for (const url of [asked.url, `${oauth.running.url}/oauth/account`]) {
      const blocking = openBrowser({}, (to, init) =>
        fetch(to, { ...init, headers: { ...(init?.headers as object), cookie: "" } }),
      );
      const shown = await signIn(blocking, await blocking.open(url), oauth.ann);
      expect(shown.text).toContain("this browser blocks cookies for this address");
      expect(shown.text).toContain('name="password"');
      const browser = openBrowser();
      const signedIn = await signIn(browser, await browser.open(url), oauth.ann);
      expect(signedIn.text).not.toContain("blocks cookies");
    }
  });

  verifies("WK-13");
  it("lets no other person see the question or answer it", async () => {
    const { personId } = await connect(oauth.ann);
    const mine = await visit(oauth.ann);
    const asked = await ask(personId);
    const page = await mine.browser.open(asked.url);
    const zoe = await at().tenant("other");
    const { browser } = await visit(zoe);
    const refused = await browser.open(asked.url);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("This question is for another person");
    expect(refused.text).not.toContain("SALES");
    await browser.submit(refused, { action: "approve" });
    const stolen = /name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    expect((await browser.submit(refused, { form: stolen, action: "approve" })).status).toBe(403);
    expect(await asked.decision()).toBeUndefined();
    const entry = await browser.submit(refused, { action: "switch" });
    expectQuestion(await signIn(browser, entry, oauth.ann));
  });

  verifies("WK-13");
  it("accepts forms of its own page alone", async () => {
    const { personId } = await connect(oauth.ann);
    const { browser, list } = await visit(oauth.ann);
    const [asked, other] = [await ask(personId), await ask(personId)];
    const page = await browser.open(asked.url);
    const foreign = [
      [{ action: "approve", form: "" }],
      [{ action: "approve", form: "made up" }],
      [{ action: "approve" }, { "sec-fetch-site": "cross-site" }],
      [{ action: "approve" }, { "content-type": "text/plain" }],
      ...[list, await browser.open(other.url)].map(({ text }) => [
        { action: "approve", form: /name="form" value="([^"]+)"/.exec(text)?.[1] ?? "" },
      ]),
    ] as [Record<string, string>, Record<string, string>?][];
    for (const [filled, headers] of foreign) {
      const { status, text } = await browser.submit(page, filled, headers);
      expect([status, text.includes("not sent from a page")]).toEqual([403, true]);
    }
    expect(await asked.decision()).toBeUndefined();
    expect((await browser.open(`${asked.url}?action=approve`)).status).toBe(200);
    expect(await asked.decision()).toBeUndefined();
  });

  verifies("WK-13");
  it("cannot be framed, stored or scripted", async () => {
    const { personId } = await connect(oauth.ann);
    const { browser } = await visit(oauth.ann);
    const { url } = await ask(personId);
    for (const page of [await browser.open(url), await openBrowser().open(url)]) {
      const policy = page.headers.get("content-security-policy");
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(page.headers.get("x-frame-options")).toBe("DENY");
      expect(page.headers.get("cache-control")).toBe("no-store");
      expect(page.text).not.toMatch(/<script|\son\w+=/);
    }
  });

  verifies("WK-13");
  it("ends with its ten minutes, with the connection, and with the person's key", async () => {
    const max = await at().person("acme", { roles: ["Administrator"] });
    const { personId, coded, body } = await connect(max);
    const { browser } = await visit(max);
    const { url } = await ask(personId);
    expect(
      (await browser.open(`${oauth.running.url}/oauth/account/approve/${"a".repeat(43)}`)).status,
    ).toBe(410);
    const id = randomBytes(32).toString("base64url");
    const late = { id, personId, question: QUESTION, expiresAt: Date.now() - 1 };
    const gone = await oauth.running.server.openApproval(late);
    expect((await browser.open(gone ?? "")).status).toBe(410);
    expectQuestion(await browser.open(url));
    const list = await browser.open(`${oauth.running.url}/oauth/account`);
    await browser.submit(list, { action: "end" });
    expect((await refresh(oauth.running, coded.client, body.refresh_token)).status).toBe(400);
    expect((await browser.open(url)).status).toBe(410);
    expect((await ask(personId)).url).toBe("");
  });

  verifies("WK-13");
  it("has the address that the issuer has behind a proxy", async () => {
    const issuer = "https://mcp.example/receivables";
    const one = await startAuthorization(at(), { issuer });
    const { personId } = await connect(oauth.ann);
    await visit(oauth.ann);
    const { id, url } = await ask(personId, one);
    expect(url).toBe(`${issuer}/oauth/account/approve/${id}`);
    for (const below of ["", "/receivables"]) {
      const browser = openBrowser();
      const here = `${one.url}${below}/oauth/account/approve/${id}`;
      const entry = await browser.ask(here);
      const form = /name="form" value="([^"]+)"/.exec(entry.text)?.[1] ?? "";
      const { email, password } = oauth.ann;
      const answer = await browser.ask(here, {
        method: "POST",
        body: new URLSearchParams({ form, email, password, action: "sign-in" }),
      });
      const to = answer.headers.get("location")?.split("?")[0];
      expect(to).toBe(`/receivables/oauth/account/approve/${id}`);
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-receivables_account=[\w-]{43}; Path=\/; Secure; .*SameSite=Lax/,
        ),
      ]);
    }
    await one.close();
  });
});
