import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { randomId } from "../../src/kit/ids.ts";
import { createRecordChange } from "../../src/platform/admin/changes.ts";
import { createResetLink, setPassword } from "../../src/platform/admin/passwords.ts";
import { checkNewPassword, hashPassword, matchesPassword } from "../../src/platform/passwords.ts";
import { createResetTokens } from "../../src/platform/reset-tokens.ts";
import { alterToken } from "../support/alter-token.ts";
import { rowsOf } from "../support/audit.ts";
import { MASTER_KEY, onEveryStore, type Person } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const NEXT = "eleven purple accordions";

verifies("OP-11");
describe("a new password", () => {
  it.each([
    ["eleven characters", "q7#Lr0vPz!x"],
    ["more than 1,024 characters", "q7#Lr0vPz!".repeat(103)],
    ["a common word with digits", "password1234"],
    ["a common word in another spelling", "P@ssw0rd1234"],
    ["a common word twice", "passwordpassword"],
    ["a row of keys", "qwertyuiop[]"],
    ["a common row of digits", "123456789012"],
    ["a character that no login may have", `${NEXT}\0`],
  ])("is refused with %s", async (_what, password) => {
    await expect(checkNewPassword(password)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it.each([NEXT, "q7#Lr0vPz!xW", "пароль из четырёх слов"])("may be %s", async (password) => {
    await expect(checkNewPassword(password)).resolves.toBeUndefined();
  });
});

verifies("C-38");
describe("a hash of a password", () => {
  it.each([
    ["of OWASP's cost", undefined, /^argon2id\$19456\$2\$/],
    ["of another cost", { memoryKib: 64, passes: 1 }, /^argon2id\$64\$1\$/],
  ])("%s is compared at the cost that it names", async (_what, cost, start) => {
    const hash = await hashPassword(NEXT, cost);
    expect(hash).toMatch(start);
    expect([await matchesPassword(NEXT, hash), await matchesPassword("guess", hash)]).toEqual([
      true,
      false,
    ]);
  });
});

verifies("OP-11");
onEveryStore("passwords that people and operators set", (at) => {
  const needsOf = () => {
    const needs = { store: at().store, clock: at().clock, newId: randomId };
    const tokens = createResetTokens(MASTER_KEY, at().clock);
    return { ...needs, tokens, record: createRecordChange({ ...needs, operator: "op" }) };
  };
  const post = (path: string, fields: Record<string, string>, headers = {}) =>
    at().call("POST", path, {
      raw: new URLSearchParams(fields).toString(),
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    });
  const login = async (email: string, password: string) =>
    (await at().call("POST", "/authentication/v1/login", { body: { email, password } })).status;
  const linkFor = async ({ email }: Person) => {
    const { link } = await createResetLink(needsOf(), { email }, "https://x.example/base/");
    expect(link).toMatch(/^https:\/\/x\.example\/base\/account\/reset\/[\w-]+$/);
    return link.slice("https://x.example/base".length);
  };
  /** A person with a session and an API key, which both work. */
  const signedIn = async (tenantId: string) => {
    const person = await at().tenant(tenantId);
    const made = await person.call("POST", "/authentication/v1/tenants/{t}/users/profile/api-key");
    const path = "/user/v1/users/profile";
    const works = async () =>
      Promise.all(
        [
          { "X-Platform-Auth": person.token },
          { "X-Platform-Api-Key": String(made.body.apiKey) },
        ].map(async (headers) => (await at().call("GET", path, { headers })).status),
      );
    expect(await works()).toEqual([200, 200]);
    return { person, works };
  };

  it("end the sessions and API keys at the next request when an operator sets one", async () => {
    const { person, works } = await signedIn("set");
    const { email, password } = person;
    await expect(setPassword(needsOf(), { email }, async () => "short")).rejects.toThrow("12");
    expect(await works()).toEqual([200, 200]);
    const set = await setPassword(needsOf(), { email }, async () => NEXT);
    expect(set).toMatchObject({ email, sessionsEnded: 1, apiKeysRemoved: 1 });
    expect(await works()).toEqual([401, 401]);
    expect([await login(email, password), await login(email, NEXT)]).toEqual([401, 200]);
    const actions = (await rowsOf(at().store.read, "set")).map(({ action }) => action);
    expect(actions).toContain("admin.user_password_set");
  });

  it("are set once with a link, on a page that neither caches nor sends the address on", async () => {
    const { person, works } = await signedIn("reset");
    const path = await linkFor(person);
    const other = await linkFor(person);
    const shown = await at().call("GET", path);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain(person.email);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    });
    const differs = await post(path, { new: NEXT, again: `${NEXT}.` });
    expect([differs.status, differs.text]).toEqual([400, expect.stringContaining("differ")]);
    const weak = await post(path, { new: "password1234", again: "password1234" });
    expect([weak.status, weak.text]).toEqual([400, expect.stringContaining("common")]);
    const foreign = await post(
      path,
      { new: NEXT, again: NEXT },
      { "Sec-Fetch-Site": "cross-site" },
    );
    expect(foreign.status).toBe(403);
    expect(await works()).toEqual([200, 200]);
    const both = await Promise.all([1, 2].map(() => post(path, { new: NEXT, again: NEXT })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 410]);
    expect(await works()).toEqual([401, 401]);
    expect(await login(person.email, NEXT)).toBe(200);
    for (const used of [path, other]) {
      expect((await at().call("GET", used)).status).toBe(410);
      expect((await post(used, { new: NEXT, again: NEXT })).status).toBe(410);
    }
    const token = path.slice("/account/reset/".length);
    expect(at().lines.join("\n")).not.toContain(token);
    expect(at().lines.join("\n")).toContain("/account/reset/{token}");
  });

  verifies("OP-13");
  it("admit the person of a link at once, after many wrong passwords from there", async () => {
    const { store, clock } = at();
    const person = await at().tenant("guessed");
    await store.transaction((tx) =>
      tx.deleteFrom("known_addresses").where("user_id", "=", person.userId).execute(),
    );
    for (let guess = 0; guess < 10; guess += 1) await login(person.email, "a wrong password");
    expect(await login(person.email, person.password)).toBe(429);
    const path = await linkFor(person);
    expect((await post(path, { new: NEXT, again: NEXT })).status).toBe(200);
    const known = await store.read
      .selectFrom("known_addresses")
      .select("seen_at")
      .where("user_id", "=", person.userId)
      .execute();
    expect(known).toEqual([{ seen_at: clock() }]);
    expect(await login(person.email, NEXT)).toBe(200);
  });

  it("are not set with a link after 30 minutes, nor with an altered one", async () => {
    const path = await linkFor(await at().tenant("late"));
    expect((await at().call("GET", alterToken(path))).status).toBe(410);
    at().clock.advance(30 * MINUTE - 1);
    expect((await at().call("GET", path)).status).toBe(200);
    at().clock.advance(1);
    expect((await at().call("GET", path)).status).toBe(410);
  });

  verifies("OP-01", "OP-03");
  it("are changed with the current one, within the limits of logins", async () => {
    const { person, works } = await signedIn("change");
    const { email, password } = person;
    const path = "/account/password";
    expect((await at().call("GET", path)).text).toContain('name="password"');
    const next = { new: NEXT, again: NEXT };
    const wrong = await post(path, { email, password: "a guess of it", ...next });
    expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining("wrong")]);
    expect(wrong.text).not.toContain("a guess of it");
    expect(await works()).toEqual([200, 200]);
    expect((await post(path, { email, password, ...next })).status).toBe(200);
    expect(await works()).toEqual([401, 401]);
    expect([await login(email, password), await login(email, NEXT)]).toEqual([401, 200]);
    const entries = (await rowsOf(at().store.read, "change"))
      .filter(({ endpoint }) => endpoint === path)
      .map(({ action, metadata }) => [action, JSON.parse(metadata)]);
    const actor = person.userId;
    expect(entries).toEqual([
      ["auth.login_failed", { address: expect.any(String), actor }],
      ["auth.password_changed", { actor, resourceId: actor }],
    ]);
    const unknown = { email: "unknown@change.example", password, ...next };
    expect((await post(path, unknown)).status).toBe(401);
    expect(await rowsOf(at().store.read, "")).toEqual([]);
    for (let guess = 0; guess < 10; guess += 1) await post(path, { email, password: "x", ...next });
    const stopped = await post(path, { email, password: NEXT, ...next });
    expect([stopped.status, stopped.headers.get("retry-after")]).toEqual([429, expect.any(String)]);
  });
});
