import { generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { decodeJwt, SignJWT } from "jose";
import Provider, { errors, type JWK } from "oidc-provider";
import { Agent, fetch } from "undici";
import { listen } from "./listen.ts";
import { certificateFor } from "./receiver.ts";

/** The name under which the company's provider is called; it leads to this machine. */
export const COMPANY_HOST = "login.company.example";

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** A person at the company, by the subject that they type as their login. */
export type Employee = { email?: string; email_verified?: boolean };

type Key = { kid: string; privateKey: KeyObject; jwk: JWK };

const makeKey = (kid: string): Key => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...privateKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" };
  return { kid, privateKey, jwk };
};

/** A client of the company's provider. */
export type CompanyClient = { id: string; secret: string; redirectUris: string[] };

type Options = {
  /** The name in its address. */
  host?: string;
  employees?: Record<string, Employee>;
  clients?: CompanyClient[];
};

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Starts the company's OpenID provider on loopback: sign-in of people, and exchange of their ID tokens for ID-JAGs. */
export const startCompany = async ({
  host = COMPANY_HOST,
  employees = {},
  clients = [],
}: Options = {}) => {
  const certificate = await certificateFor(host);
  let handle: (incoming: IncomingMessage, response: ServerResponse) => void = () => {};
  let isDown = false;
  let key = makeKey("one");
  const seen: string[] = [];
  const registered = new Map<string, string>();
  const server = createServer(certificate, (incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    if (isDown) response.writeHead(503).end();
    else handle(incoming, response);
  });
  const port = await listen(server);
  const issuer = `https://${host}:${port}`;

  /** Signs an identity assertion; claims and header replace the usual ones. */
  const assertion = (
    claims: Record<string, unknown>,
    header: Record<string, unknown> = {},
    signer: KeyObject | Uint8Array = key.privateKey,
  ): Promise<string> => {
    const now = nowSeconds();
    const usual = { iss: issuer, sub: "ann", jti: randomUUID(), iat: now, exp: now + 300 };
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: key.kid, typ: "oauth-id-jag+jwt", ...header })
      .sign(signer);
  };

  const open = (): void => {
    const provider = new Provider(issuer, {
      jwks: { keys: [key.jwk] },
      clients: clients.map(({ id, secret, redirectUris }) => ({
        client_id: id,
        client_secret: secret,
        redirect_uris: redirectUris,
        grant_types: ["authorization_code", TOKEN_EXCHANGE],
        id_token_signed_response_alg: "ES256",
      })),
      claims: { openid: ["sub"], email: ["email", "email_verified"] },
      conformIdTokenClaims: false,
      cookies: { keys: ["a cookie key of the company"] },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: async () => ({ sub: id, ...employees[id] }),
      }),
      pkce: { required: () => true },
    });
    provider.registerGrantType(
      TOKEN_EXCHANGE,
      async (context) => {
        const params = context.oidc.params ?? {};
        if (params["requested_token_type"] !== ID_JAG)
          throw new errors.InvalidRequest("another token was requested");
        const { sub = "" } = decodeJwt(String(params["subject_token"]));
        const { email, email_verified } = employees[sub] ?? {};
        context.body = {
          issued_token_type: ID_JAG,
          token_type: "N_A",
          expires_in: 300,
          access_token: await assertion({
            sub,
            email,
            email_verified,
            aud: String(params["audience"]),
            resource: params["resource"],
            scope: params["scope"],
            client_id: registered.get(String(params["audience"])),
          }),
        };
      },
      [
        "audience",
        "resource",
        "scope",
        "requested_token_type",
        "subject_token",
        "subject_token_type",
      ],
    );
    handle = provider.callback();
  };
  open();

  const agent = new Agent({
    connect: {
      ca: certificate.cert,
      lookup: (_name, { all }, done) => {
        if (all === true) done(null, [{ address: "127.0.0.1", family: 4 }]);
        else done(null, "127.0.0.1", 4);
      },
    },
  });
  /** Calls the provider, or this machine, as `fetch` does. */
  const call = (input: unknown, init?: object): Promise<Response> =>
    fetch(input as never, { ...init, dispatcher: agent });

  return {
    fetch: call as typeof globalThis.fetch,
    issuer,
    certificate: certificate.cert,
    seen,
    assertion,
    publicJwk: () => key.jwk,
    /** Records the id that the company's host has at another authorization server. */
    registerHost: (audience: string, clientId: string) => registered.set(audience, clientId),
    /** Issues an ID token of an employee for one of the company's clients. */
    idToken: (sub: string, clientId: string) => assertion({ sub, aud: clientId }, { typ: "JWT" }),
    /** Replaces the provider's signing key. */
    rotate: () => {
      key = makeKey(`key ${randomUUID()}`);
      open();
    },
    down: (is: boolean) => {
      isDown = is;
    },
    close: () =>
      new Promise<void>((resolve) => {
        void agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export type Company = Awaited<ReturnType<typeof startCompany>>;
