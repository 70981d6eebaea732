import { generateKeyPair, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SECOND, systemClock } from "../../src/kit/clock.ts";
import { createLog, silentLog } from "../../src/kit/log.ts";
import { Secret } from "../../src/kit/secret.ts";
import { createBearerGate } from "../../src/mcp/http/bearer.ts";
import type { Gate } from "../../src/mcp/http/gate.ts";
import { type IssuerNeeds, createIssuerVerifier } from "../../src/mcp/http/issuer.ts";
import { fakeClock } from "../support/clock.ts";
import { CLIENT, type Issuer, startIssuer } from "../support/issuer.ts";
import { verifies } from "../support/verifies.ts";

const RESOURCE = "https://mcp.example/mcp";
const KEY = Buffer.alloc(32, 5);

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer.close());

const gateOf = (more: Partial<IssuerNeeds> = {}, log = silentLog): Gate => {
  const verify = createIssuerVerifier({
    issuer: issuer.issuer,
    audience: RESOURCE,
    client: { id: CLIENT.id, secret: new Secret(CLIENT.secret) },
    profileOf: async (subject) => (subject === "subject-1" ? "ann" : undefined),
    key: KEY,
    fetch,
    now: systemClock,
    log,
    ...more,
  });
  return createBearerGate({
    verify,
    resource: new URL(RESOURCE),
    issuers: [issuer.issuer],
    now: systemClock,
    log,
  });
};

const admit = (gate: Gate, token: string) =>
  gate.admit(new Request(RESOURCE, { headers: { authorization: `Bearer ${token}` } }));

const refusal = async (gate: Gate, token: string): Promise<Response> => {
  const answer = await admit(gate, token);
  if (!(answer instanceof Response)) throw new Error("it was admitted");
  return answer;
};

/** Invalid tokens: each differs from a valid one in one property. */
const WRONG: [string, () => Promise<string>][] = [
  ["is for another resource", () => issuer.token("https://elsewhere.example/mcp")],
  ["has expired", () => issuer.token(RESOURCE, { ended: true })],
  ["never expires", () => issuer.token(RESOURCE, { ended: "never" })],
  [
    "is from another issuer",
    () => issuer.token(RESOURCE, { claims: { iss: "https://evil.example" } }),
  ],
  ["is not valid yet", () => issuer.token(RESOURCE, { claims: { nbf: 4_000_000_000 } })],
  ["names no subject", () => issuer.token(RESOURCE, { claims: { sub: undefined } as never })],
  ["has an unknown key id", () => issuer.token(RESOURCE, { kid: "two" })],
  ["is of another type", () => issuer.token(RESOURCE, { typ: "logout+jwt" })],
  [
    "is signed with another key",
    async () => issuer.token(RESOURCE, {}, (await generateKeyPair("ES256")).privateKey),
  ],
  [
    "is not signed",
    async () =>
      new UnsecuredJWT({ sub: "subject-1", scope: "read" })
        .setIssuer(issuer.issuer)
        .setAudience(RESOURCE)
        .setExpirationTime("5m")
        .encode(),
  ],
  [
    "was altered",
    async () => {
      const [head, , signature] = (await issuer.token(RESOURCE)).split(".");
      const claims = { iss: issuer.issuer, aud: RESOURCE, sub: "subject-1", exp: 4_000_000_000 };
      return `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
    },
  ],
  ["is not a token", async () => "a.b.c"],
];

describe("signed tokens of an issuer", () => {
  let gate: Gate;
  beforeEach(() => {
    gate = gateOf();
  });

  verifies("C-61");
  it("admit their subject with its profile and the known scopes", async () => {
    const [one, again] = await Promise.all([
      admit(gate, await issuer.token(RESOURCE)),
      admit(gate, await issuer.token(RESOURCE, { claims: { scope: "admin" } })),
    ]);
    expect(one).toMatchObject({
      token: "",
      scopes: ["read", "write"],
      extra: { caller: { profile: "ann" } },
    });
    expect(again).toMatchObject({ scopes: ["admin"] });
    const idOf = (answer: typeof one) => (answer instanceof Response ? "" : answer.clientId);
    expect(idOf(one)).toMatch(/^[\w-]{22}$/);
    expect(idOf(again)).toBe(idOf(one));
  });

  it.each([
    ["a list", { scope: undefined, scp: ["read", "other"] }, ["read"]],
    ["a text of another name", { scope: undefined, scp: "admin" }, ["admin"]],
    ["nothing", { scope: undefined }, []],
  ])("may contain their scopes as %s", async (_what, claims, scopes) => {
    expect(await admit(gate, await issuer.token(RESOURCE, { claims }))).toMatchObject({ scopes });
  });

  verifies("C-61");
  it.each(WRONG)("are refused with a challenge if one %s", async (_what, make) => {
    const response = await refusal(gate, await make());
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain(
      'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
    );
  });

  it("are refused for a subject without a profile", async () => {
    const token = await issuer.token(RESOURCE, { claims: { sub: "ann" } });
    expect((await refusal(gate, token)).status).toBe(403);
  });

  it("are verified with keys that are fetched once", async () => {
    const fetches = () => issuer.seen.filter(({ url }) => url === "/realm/keys").length;
    const before = fetches();
    for (let round = 0; round < 3; round += 1) {
      await admit(gate, await issuer.token(RESOURCE));
    }
    expect(fetches() - before).toBe(1);
  });
});

describe("introspected tokens of an issuer", () => {
  const good = () => ({
    active: true,
    iss: issuer.issuer,
    aud: ["other", RESOURCE],
    sub: "subject-1",
    scope: "read",
    exp: 4_000_000_000,
  });

  verifies("C-61");
  it("admit their subject, and are introspected once per cache period", async () => {
    const gate = gateOf();
    issuer.addOpaque("opaque-good", good());
    const asked = () => issuer.seen.filter(({ url }) => url === "/realm/introspect").length;
    const before = asked();
    expect(await admit(gate, "opaque-good")).toMatchObject({ scopes: ["read"] });
    expect(await admit(gate, "opaque-good")).toMatchObject({ scopes: ["read"] });
    expect(asked() - before).toBe(1);
  });

  verifies("C-61");
  it.each([
    ["is not active", { active: false }],
    ["is for another resource", { aud: "https://elsewhere.example" }],
    ["is for nobody in particular", { aud: undefined }],
    ["is from another issuer", { iss: "https://evil.example" }],
    ["has expired", { exp: 1000 }],
    ["is not valid yet", { nbf: 4_000_000_000 }],
    ["has no subject", { sub: undefined }],
  ])("are refused if one %s", async (what, more) => {
    const token = `opaque-${what.replaceAll(" ", "-")}`;
    issuer.addOpaque(token, { ...good(), ...more });
    expect((await refusal(gateOf(), token)).status).toBe(401);
  });

  it("are refused without a client for introspection", async () => {
    issuer.addOpaque("opaque-unasked", good());
    expect((await refusal(gateOf({ client: undefined }), "opaque-unasked")).status).toBe(401);
  });

  it("get 503 when the issuer refuses the introspection request", async () => {
    const lines: string[] = [];
    const log = createLog("info", (line) => lines.push(line));
    const client = { id: CLIENT.id, secret: new Secret("canary-wrong") };
    expect((await refusal(gateOf({ client }, log), "opaque-token-canary")).status).toBe(503);
    expect(lines.join("")).toContain("answered 401");
    expect(lines.join("")).not.toContain("canary");
  });
});

describe("an issuer", () => {
  it("that is down causes 503 until it is up again", async () => {
    const gate = gateOf();
    const token = await issuer.token(RESOURCE);
    issuer.down(true);
    expect((await refusal(gate, token)).status).toBe(503);
    issuer.down(false);
    expect(await admit(gate, token)).toMatchObject({ scopes: ["read", "write"] });
  });

  it.each(["jwks_uri", "introspection_endpoint"])(
    "is refused with a %s without TLS",
    async (name) => {
      const lines: string[] = [];
      const log = createLog("info", (line) => lines.push(line));
      const asked: string[] = [];
      const names = {
        issuer: "https://issuer.example",
        jwks_uri: "https://issuer.example/keys",
        introspection_endpoint: "https://issuer.example/introspect",
        [name]: "http://issuer.example/open",
      };
      const answer = async (url: unknown): Promise<Response> => {
        asked.push(String(url));
        return Response.json(names);
      };
      const gate = gateOf({ issuer: names.issuer, fetch: answer }, log);
      for (const token of [await issuer.token(RESOURCE), "opaque"]) {
        expect((await refusal(gate, token)).status).toBe(503);
      }
      expect(lines.join("")).toContain("names an address without TLS");
      expect(asked.filter((url) => !url.includes("/.well-known/"))).toEqual([]);
    },
  );

  it.each([
    ["when it is first asked", 0],
    ["when its keys are due", 3],
  ])("that does not answer %s delays only the first request", async (_when, answers) => {
    const clock = fakeClock(new Date().toISOString());
    const lines: string[] = [];
    const log = createLog("info", (line) => lines.push(line));
    let asked = 0;
    let isAway = true;
    const fetchOf: typeof fetch = async (...request) => {
      asked += 1;
      if (isAway && asked > answers) throw new TypeError("fetch failed");
      return fetch(...request);
    };
    const gate = gateOf({ fetch: fetchOf, now: clock }, log);
    const token = await issuer.token(RESOURCE);
    const before = answers + 1;
    for (let tries = 0; tries < 5; tries++) {
      const refused = await refusal(gate, token);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
      expect(await refused.text()).toContain("the authorization server does not answer");
    }
    expect(asked).toBe(before);
    expect(lines.filter((line) => line.includes("issuer.away"))).toHaveLength(1);
    clock.advance(10 * SECOND);
    expect((await refusal(gate, token)).status).toBe(503);
    expect(asked).toBe(before + 1);
    isAway = false;
    expect((await refusal(gate, token)).status).toBe(503);
    clock.advance(10 * SECOND);
    expect(await admit(gate, token)).toMatchObject({ scopes: ["read", "write"] });
    expect(lines.join("")).toContain("issuer.back");
    expect(lines.join("")).not.toContain(token);
  });

  it("is refused if its metadata names another issuer", async () => {
    const lines: string[] = [];
    const log = createLog("info", (line) => lines.push(line));
    const gate = gateOf({ issuer: `${issuer.issuer}/` }, log);
    expect((await refusal(gate, await issuer.token(RESOURCE))).status).toBe(503);
    expect(lines.join("")).toContain("names another issuer");
  });
});

describe("people whom a claim names", () => {
  const openGate = (personClaim: string) =>
    gateOf({
      personClaim,
      personOf: async (email) => (email === "bob@acme.example" ? "person:bob" : undefined),
    });
  const ask = async (personClaim: string, claims: object) => {
    const token = await issuer.token(RESOURCE, {
      claims: { sub: "subject-2", ...claims },
    });
    const answer = await admit(openGate(personClaim), token);
    return answer instanceof Response ? answer.status : answer.extra.caller.profile;
  };
  const email = "bob@acme.example";

  verifies("RC-13");
  it.each<[string, object, string | number]>([
    ["email", { email, email_verified: true }, "person:bob"],
    ["email", { email, email_verified: true, sub: "subject-1" }, "ann"],
    ["email", { email }, 403],
    ["email", { email, email_verified: false }, 403],
    ["email", { email, email_verified: "true" }, 403],
    ["email", { email: "x@acme.example", email_verified: true }, 403],
    ["email", { email: [email], email_verified: true }, 403],
    ["email", {}, 403],
    ["https://acme.example/mail", { "https://acme.example/mail": email }, "person:bob"],
    ["upn", { upn: email, email_verified: false }, 403],
  ])("by %s: %j acts as %s", async (claim, claims, expected) => {
    expect(await ask(claim, claims)).toBe(expected);
  });

  it("are found by the introspection of an opaque token, too", async () => {
    issuer.addOpaque("of-bob", {
      active: true,
      sub: "subject-2",
      aud: RESOURCE,
      scope: "read",
      email,
      email_verified: true,
    });
    const answer = await admit(openGate("email"), "of-bob");
    expect(answer instanceof Response ? answer.status : answer.extra.caller.profile).toBe(
      "person:bob",
    );
  });

  it("are not found without the setting", async () => {
    const token = await issuer.token(RESOURCE, {
      claims: { sub: "subject-2", email, email_verified: true },
    });
    expect((await refusal(gateOf(), token)).status).toBe(403);
  });
});
