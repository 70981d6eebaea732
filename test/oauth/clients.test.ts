import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNetworks } from "../../src/kit/network.ts";
import { createFetchDocument } from "../../src/oauth/documents.ts";
import {
  codeOf,
  redeem,
  register,
  type Running,
  signIn,
  startAuthorization,
} from "../support/oauth.ts";
import { certificateFor, type Receiver, startReceiver } from "../support/receiver.ts";
import { verifies } from "../support/verifies.ts";
import { openSignIn, useAuthorization, usePlatform } from "./setup.ts";

const at = usePlatform();
const oauth = useAuthorization(at);

describe("clients that register themselves", () => {
  const ask = (url: string, metadata: object) =>
    fetch(`${url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "x", ...metadata }),
    });

  const SCHEME = "must not use the scheme";

  verifies("HS-02");
  it.each([
    ["http://host.example/callback", "must be https"],
    ["http://127.0.0.1.host.example/callback", "must be https"],
    ["javascript:alert(1)", SCHEME],
    ["JavaScript:alert(1)", SCHEME],
    ["data:text/html,x", SCHEME],
    ["file:///etc/passwd", SCHEME],
    ["intent://host.example/callback", SCHEME],
    ["blob:https://host.example/callback", SCHEME],
    ["ms-msdt:/id PCWDiagnostic", SCHEME],
    ["search-ms:/query=x", SCHEME],
    ["smb://host.example/share", SCHEME],
    ["editor:callback", "must go on with /"],
    ["https://user@host.example/callback", "must not contain a user name"],
    ["https://host.example/callback#part", "must not contain a fragment"],
    ["/callback", "must be an absolute URL"],
  ])("are refused with the redirect URI %s, and told why", async (uri, reason) => {
    const answer = await ask(oauth.running.url, {
      redirect_uris: ["https://host.example/good", uri],
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: "invalid_redirect_uri",
      error_description: expect.stringContaining(`redirect_uris[1] ${reason}`),
    });
  });

  it.each([
    [{ redirect_uris: [] }],
    [{ redirect_uris: null }],
    [{ redirect_uris: ["", null] }],
    [{}],
  ])("are refused with %j", async (metadata) => {
    const answer = await ask(oauth.running.url, metadata);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error_description: expect.stringContaining("redirect_uris"),
    });
  });

  verifies("HS-02");
  it.each([
    { token_endpoint_auth_method: "client_secret_basic" },
    { token_endpoint_auth_method: "client_secret_post", client_secret: "s3cret" },
    { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [] }, jwks_uri: "" },
    { token_endpoint_auth_method: null, grant_types: null, response_types: null, scope: null },
    { grant_types: [], response_types: [], contacts: [""], client_uri: "", logo_uri: 7 },
    { grant_types: ["authorization_code", "refresh_token", "client_credentials", "implicit"] },
    { response_types: ["code", "token", "id_token"], scope: "openid everything", client_name: "" },
    { application_type: "desktop", id_token_signed_response_alg: "RS256", default_max_age: -1 },
    { subject_type: "pairwise", sector_identifier_uri: "https://host.example/x", jwks: null },
    { redirect_uris: ["https://host.example/a", "", "https://host.example/a", null] },
    { redirect_uris: [" https://host.example/a\n", "https://host.example/a"] },
  ])("are registered as public clients, whatever they ask for: %j", async (metadata) => {
    const answer = await ask(oauth.running.url, {
      redirect_uris: ["https://host.example/a"],
      ...metadata,
    });
    const registered = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, registered]).toEqual([201, expect.anything()]);
    expect(registered).toMatchObject({
      redirect_uris: ["https://host.example/a"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
    expect(Object.keys(registered).filter((name) => /secret|jwks|scope/.test(name))).toEqual([]);
  });

  it("get no refresh tokens if they ask for codes only", async () => {
    const redirect_uris = ["https://host.example/a"];
    const asked = { redirect_uris, grant_types: ["authorization_code"] };
    expect(await (await ask(oauth.running.url, asked)).json()).toMatchObject({
      grant_types: ["authorization_code"],
    });
  });

  it.each([
    "editor://vendor.mcp-sign-in/oauth/callback",
    "com.example.app:/callback",
    "https://localhost:8443/callback",
    "https://127.0.0.1/callback",
  ])("of the person's computer are sent the code at exactly %s", async (own) => {
    const uris = [own, "https://host.example/callback", "http://localhost:8787/callback"];
    const { clientId } = await register(oauth.running, { redirect_uris: uris });
    const client = { clientId, redirect: own };
    const { browser, shown, verifier } = await openSignIn(oauth.running, { client });
    const consent = await signIn(browser, shown, oauth.ann);
    expect(consent.text).toContain("a program on this computer");
    expect(consent.text).not.toContain("vendor.mcp-sign-in</strong>");
    const last = await browser.submit(consent, { action: "allow" });
    expect(last.url.startsWith(`${own}?code=`)).toBe(true);
    const coded = { code: codeOf(last), verifier, client };
    expect((await redeem(oauth.running, coded)).status).toBe(200);
    const other = { clientId, redirect: `${own}x` };
    expect((await openSignIn(oauth.running, { client: other })).shown.status).toBe(400);
  });

  it("are limited by address, and refused if registration is off", async () => {
    const one = await startAuthorization(at(), { addressOf: () => "192.0.2.8" });
    const good = { redirect_uris: ["https://host.example/a"] };
    const statuses = [];
    for (let tries = 0; tries < 21; tries++) statuses.push((await ask(one.url, good)).status);
    expect(statuses).toEqual([...Array(20).fill(201), 429]);
    await one.close();
    const closed = await startAuthorization(at(), { registration: false });
    expect((await ask(closed.url, good)).status).toBe(404);
    const metadata = await fetch(`${closed.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).not.toHaveProperty("registration_endpoint");
    await closed.close();
  });
});

describe("clients with a metadata document", () => {
  let receiver: Receiver;
  let server: Running;
  let home: string;
  let ca: string;
  beforeAll(async () => {
    const certificate = await certificateFor("host.example");
    ca = certificate.cert;
    receiver = await startReceiver(certificate);
    home = `https://host.example:${receiver.port}`;
    server = await startAuthorization(at(), { ca, registration: false });
  });
  afterAll(async () => {
    await server.close();
    await receiver.close();
  });

  const describing = (more: object = {}) =>
    receiver.answering((answer, { path }) => {
      const document = {
        client_id: home + path,
        client_name: "Described host",
        redirect_uris: ["https://host.example/callback"],
        token_endpoint_auth_method: "none",
        ...more,
      };
      answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
    });

  it("are shown with the hosts of the document and the redirect URI", async () => {
    describing();
    const client = { clientId: `${home}/client.json`, redirect: "https://host.example/callback" };
    const { browser, shown, verifier } = await openSignIn(server, { client });
    const second = await signIn(browser, shown, oauth.ann);
    expect(second.text).toContain(`described at host.example:${receiver.port}`);
    expect(second.text).toMatch(/your browser goes to <strong>host\.example<\/strong>/);
    const last = await browser.submit(second, { action: "allow" });
    expect(last.url.startsWith("https://host.example/callback?code=")).toBe(true);
    const coded = { code: codeOf(last), verifier, client };
    expect((await redeem(server, coded)).status).toBe(200);
  });

  verifies("HS-02");
  it.each([
    ["private_key_jwt", { jwks_uri: `https://host.example/jwks`, logo_uri: "http://x.example/" }],
    ["client_secret_post", { client_secret: null, grant_types: ["client_credentials"], scope: "" }],
  ])("are public ones though the document names %s", async (method, more) => {
    describing({ token_endpoint_auth_method: method, client_uri: null, ...more });
    const redirect = "https://host.example/callback";
    const client = { clientId: `${home}/${method}.json`, redirect };
    const { shown } = await openSignIn(server, { client });
    expect(shown.text).toContain("Described host");
  });

  it.each([
    ["names another client", { client_id: "https://other.example/client.json" }],
    ["has a secret", { client_secret: "x" }],
    ["sends people to http elsewhere", { redirect_uris: ["http://host.example/callback"] }],
  ])("are refused if the document %s", async (what, more) => {
    describing(more);
    const clientId = `${home}/${encodeURIComponent(what)}.json`;
    const client = { clientId, redirect: "https://host.example/callback" };
    const { shown } = await openSignIn(server, { client });
    expect(shown.status).toBe(400);
    expect(shown.url.startsWith(server.url)).toBe(true);
  });

  const loopback = createNetworks(["127.0.0.0/8"]);
  const document = (allowed = loopback) =>
    createFetchDocument({
      hosts: { resolve: async () => ["127.0.0.1"], allowed },
      ca,
      requestMs: 1500,
    });

  verifies("C-26");
  it("do not follow redirects", async () => {
    receiver.answering((answer) => answer.writeHead(302, { location: `${home}/other` }).end());
    const before = receiver.received.length;
    expect((await document()(`${home}/client.json`)).status).toBe(302);
    expect(receiver.received.length).toBe(before + 1);
  });

  verifies("C-29", "C-30");
  it("have a document of limited size and time", async () => {
    receiver.answering((answer) => answer.end("x".repeat(40_000)));
    await expect(document()(`${home}/client.json`)).rejects.toThrow("more than 32768 bytes");
    receiver.answering((answer) => answer.writeHead(200).write("{"));
    await expect(document()(`${home}/client.json`)).rejects.toThrow();
  });

  verifies("C-22", "C-23");
  it.each([
    "https://host.example/client.json",
    "https://127.0.0.1/client.json",
    "https://[::ffff:7f00:1]/client.json",
    "https://0x7f.1/client.json",
    "https://localhost/client.json",
    "https://metadata.google.internal/client.json",
  ])("are not fetched from an address that is not public: %s", async (url) => {
    const before = receiver.connections();
    await expect(document(createNetworks([]))(url)).rejects.toThrow("not public");
    expect(receiver.connections()).toBe(before);
  });

  verifies("C-27");
  it.each(["http://host.example/c", "https://host.example:22/c", "https://me@host.example/c"])(
    "are not fetched from %s",
    async (url) => {
      await expect(document()(url)).rejects.toThrow(/must/);
    },
  );

  verifies("C-24");
  it("are fetched from the very address that was checked", async () => {
    describing();
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    const hosts = { resolve: async () => answers.shift() ?? [], allowed: loopback };
    const fetchDocument = createFetchDocument({ hosts, ca });
    const before = receiver.connections();
    expect((await fetchDocument(`${home}/client.json`)).status).toBe(200);
    expect(answers).toEqual([["10.0.0.1"]]);
    await expect(fetchDocument(`${home}/client.json`)).rejects.toThrow("not public");
    expect(receiver.connections()).toBe(before + 1);
  });

  verifies("C-25");
  it("are not fetched if one of several addresses is not public", async () => {
    const hosts = {
      resolve: async () => ["93.184.215.14", "10.0.0.1"],
      allowed: createNetworks([]),
    };
    await expect(createFetchDocument({ hosts })(`${home}/c`)).rejects.toThrow("not public");
  });
});
