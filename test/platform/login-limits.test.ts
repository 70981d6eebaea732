import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../src/kit/clock.ts";
import { type Answered, type Asked, behindProxy, servePlatform } from "../support/addresses.ts";
import { LoginGuard } from "../../src/platform/login-guard.ts";
import { MASTER_KEY, onEveryStore, type TestPlatform } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const LIMITS = { loginPerMinute: 20, gatewayPerMinute: 30 };
const ACCOUNT_BUDGET = 20;

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

const statusesOf = (answers: Answered[]): Record<number, number> => {
  const tally: Record<number, number> = {};
  for (const { status } of answers) tally[status] = (tally[status] ?? 0) + 1;
  return tally;
};

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

const open = async (at: TestPlatform) => {
  // A minute's and a quarter of an hour's windows of earlier tests have ended.
  at.clock.advance(16 * MINUTE);
  const served = await servePlatform(at.platform);
  close = served.close;
  const login = (email: string, password: string, asked: Asked = {}) =>
    served.ask("/authentication/v1/login", { method: "POST", body: { email, password }, ...asked });
  return { ...served, login };
};

onEveryStore(
  "guesses at passwords",
  (at) => {
    verifies("C-89", "OP-13");
    it("never refuse a user at an address that the user has logged in from", async () => {
      const { login } = await open(at());
      const user = await at().tenant("guess-known");
      const mine = { from: "127.0.0.2" };
      expect((await login(user.email, user.password, mine)).status).toBe(200);
      for (const index of range(30)) {
        await login(user.email, "guess", { from: `127.0.0.${20 + (index % 12)}` });
      }
      expect((await login(user.email, user.password, { from: "127.0.0.40" })).status).toBe(429);
      expect((await login(user.email, user.password, mine)).status).toBe(200);
      at().clock.advance(15 * MINUTE);
      expect((await login(user.email, user.password, { from: "127.0.0.40" })).status).toBe(200);
    });

    verifies("C-90", "OP-13");
    it("have one budget per account over all addresses, also when sent at once", async () => {
      const { login } = await open(at());
      const user = await at().tenant("guess-many");
      const flood = (email: (index: number) => string) =>
        Promise.all(
          range(120).map((index) =>
            login(email(index), "guess", { from: `127.0.1.${10 + (index % 12)}` }),
          ),
        );
      const answers = await flood(() => user.email);
      // The rest exceeds the budget (429), or finds too many others waiting (503).
      expect(statusesOf(answers)[401]).toBe(ACCOUNT_BUDGET);
      for (const { status, headers } of answers) {
        expect([401, 429, 503]).toContain(status);
        if (status !== 401) expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      }
      // An account that does not exist answers alike.
      at().clock.advance(16 * MINUTE);
      const invented = await flood(() => "invented@guess-many.example");
      expect(statusesOf(invented)[401]).toBe(ACCOUNT_BUDGET);
    });

    verifies("C-90");
    it("lock an account for a quarter of an hour at most, also when the clock is set back", async () => {
      const { login } = await open(at());
      const user = await at().tenant("guess-back");
      const guess = () => login(user.email, "guess", { from: "127.0.1.200" });
      for (let left = 10; left > 0; left -= 1) expect((await guess()).status).toBe(401);
      at().clock.advance(-5 * HOUR);
      const refused = await guess();
      expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "900"]);
      at().clock.advance(14 * MINUTE);
      expect((await guess()).status).toBe(429);
      at().clock.advance(MINUTE);
      expect((await login(user.email, user.password, { from: "127.0.1.200" })).status).toBe(200);
      at().clock.advance(5 * HOUR);
    });

    verifies("C-90", "OP-13");
    it("count for one account in each spelling of its e-mail address", async () => {
      const { login } = await open(at());
      const spellings = ["jörg", "JÖRG", "jo\u0308rg", "JO\u0308RG", " Jörg"];
      const answers: Answered[] = [];
      for (const index of range(40)) {
        const email = `${spellings[index % spellings.length]}@spelling.example`;
        answers.push(await login(email, "guess", { from: `127.0.2.${10 + index}` }));
      }
      expect(statusesOf(answers)).toEqual({ 401: ACCOUNT_BUDGET, 429: 40 - ACCOUNT_BUDGET });
    });

    verifies("C-89", "OP-13");
    it("count failures at unknown accounts against the address only", async () => {
      const { login } = await open(at());
      const user = await at().tenant("guess-invented");
      const same = { from: "127.0.3.1" };
      expect((await login(user.email, user.password, same)).status).toBe(200);
      at().clock.advance(MINUTE);
      const answers: Answered[] = [];
      for (const index of range(60)) {
        answers.push(await login(`invented${index}@x.example`, "guess", same));
      }
      expect(statusesOf(answers)).toEqual({ 401: 20, 429: 40 });
      const other = await at().person("guess-invented", { roles: ["Viewer"] });
      expect((await login(other.email, other.password, { from: "127.0.3.2" })).status).toBe(200);
      expect((await login(user.email, user.password, same)).status).toBe(200);
    });

    verifies("C-90", "OP-13");
    it("count by the /64 of an IPv6 address and by the IPv4 address inside a mapped one", async () => {
      const { login } = await open(at());
      const guess = (client: string, index: number) =>
        login(`invented${index}@y.example`, "guess", behindProxy(client));
      const groups: [(index: number) => string, string][] = [
        [(index) => `2001:db8:1:2:${index.toString(16)}::${index}`, "2001:db8:1:3::1"],
        [
          (index) =>
            ["::ffff:203.0.113.5", "203.0.113.5:4711", "::ffff:cb00:7105"][index % 3] ?? "",
          "203.0.113.6",
        ],
        [(index) => `[2001:DB8:7:7::${index + 1}]:443`, "[2001:db8:7:8::1]:443"],
      ];
      for (const [sibling, stranger] of groups) {
        const answers: Answered[] = [];
        for (const index of range(22)) answers.push(await guess(sibling(index), index));
        expect(statusesOf(answers)).toEqual({ 401: 20, 429: 2 });
        expect((await guess(stranger, 0)).status).toBe(401);
      }
    });

    verifies("C-37", "C-89");
    it("count for the connection where its forwarding header is not trusted or no address", async () => {
      const { login } = await open(at());
      const answers: Answered[] = [];
      for (const index of range(22)) {
        const headers = { "X-Forwarded-For": `198.51.100.${index}` };
        answers.push(await login(`z${index}@z.example`, "guess", { from: "127.0.4.1", headers }));
      }
      expect(statusesOf(answers)).toEqual({ 401: 20, 429: 2 });
      const junk: Answered[] = [];
      for (const index of range(22)) {
        junk.push(await login(`j${index}@z.example`, "guess", behindProxy(`junk${index}`)));
      }
      expect(statusesOf(junk)).toEqual({ 401: 20, 429: 2 });
    });

    verifies("C-90", "OP-13");
    it("wait in turns by address for a bounded number of hashes", async () => {
      const { login } = await open(at());
      const user = await at().tenant("guess-fair");
      const mine = { from: "127.0.5.200" };
      expect((await login(user.email, user.password, mine)).status).toBe(200);
      const flood = range(120).map((index) =>
        login(`f${index}@f.example`, "guess", { from: `127.0.5.${1 + (index % 15)}` }),
      );
      expect((await login(user.email, user.password, mine)).status).toBe(200);
      const answers = await Promise.all(flood);
      for (const { status, headers } of answers) {
        expect([401, 429, 503]).toContain(status);
        if (status !== 401) expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      }
    });

    verifies("C-90", "OP-13");
    it("compute at most as many hashes at once as there are processors", async () => {
      const { store, clock } = at();
      const guard = new LoginGuard({ store, masterKey: MASTER_KEY, clock });
      let [running, most] = [0, 0];
      const check = async (): Promise<boolean> => {
        running += 1;
        most = Math.max(most, running);
        await setImmediate();
        running -= 1;
        return false;
      };
      const login = (index: number) =>
        ({
          email: `h${index}@h.example`,
          ip: `127.0.8.${index}`,
          isKnown: false,
          now: clock(),
        }) as const;
      const answers = range(40).map((index) => guard.attempt(login(index), check));
      expect(await Promise.all(answers)).toEqual(Array(40).fill(false));
      expect(most).toBeLessThanOrEqual(availableParallelism());
    });

    verifies("C-90", "D-RATE");
    it("leave no counter behind after their windows, and no address in clear text", async () => {
      const { login } = await open(at());
      const user = await at().tenant("guess-rows");
      await login(user.email, user.password, { from: "127.0.6.1" });
      await login("secret-name@rows.example", "guess", { from: "127.0.6.77" });
      const counters = () => at().store.counting.selectFrom("counters").selectAll().execute();
      expect(JSON.stringify(await counters())).not.toContain("secret-name");
      const known = await at().store.read.selectFrom("known_addresses").selectAll().execute();
      expect(JSON.stringify(known)).not.toContain("127.0.6");
      at().clock.advance(16 * MINUTE);
      await at().platform.purgeCounters();
      expect(await counters()).toEqual([]);
    });
  },
  { limits: LIMITS },
);

verifies("C-96");
onEveryStore(
  "session tokens",
  (at) => {
    const post = (verb: string, accessToken: string, from: string) =>
      ({
        path: `/authentication/v1/${verb}`,
        asked: { method: "POST", body: { accessToken }, from },
      }) as const;

    it("are verified a limited number of times per minute", async () => {
      const { ask } = await open(at());
      const one = await at().tenant("verify-often");
      const other = await at().person("verify-often", { roles: ["Viewer"] });
      const verify = (token: string) => {
        const { path, asked } = post("verify-session", token, "127.0.7.1");
        return ask(path, asked);
      };
      const answers: Answered[] = [];
      for (const _ of range(40)) answers.push(await verify(one.token));
      expect(statusesOf(answers)).toEqual({ 200: 30, 429: 10 });
      expect(answers.at(-1)?.headers["retry-after"]).toBe("60");
      expect((await verify(other.token)).body.verified).toBe(true);
      at().clock.advance(MINUTE);
      expect((await verify(one.token)).status).toBe(200);
    });

    it.each(["verify-session", "logout"])(
      "that are unknown are limited by address in %s",
      async (verb) => {
        const { ask } = await open(at());
        const user = await at().tenant(`unknown-${verb}`);
        const send = (token: string) => {
          const { path, asked } = post(verb, token, "127.0.7.2");
          return ask(path, asked);
        };
        const answers: Answered[] = [];
        for (const index of range(110)) answers.push(await send(`unknown ${index}`));
        expect(statusesOf(answers)).toEqual({ 200: 100, 429: 10 });
        expect((await send(user.token)).status).toBe(200);
      },
    );
  },
  { limits: LIMITS },
);
