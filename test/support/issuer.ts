import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { json, wildServer } from "./wild-server.ts";

export const CLIENT = { id: "mcp server", secret: "canary-client:secret" };

/** Whom a good token stands for. */
export const BEARER = {
  id: "ann",
  client: "client-1",
  grant: "grant-1",
  scopes: ["read"],
  profile: "ann",
  expiresAt: Infinity,
} as const;

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

type Signed = { claims?: JWTPayload; kid?: string; typ?: string; ended?: boolean | "never" };

/** Starts an issuer on loopback: metadata, keys and introspection. */
export const startIssuer = async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const opaque = new Map<string, Record<string, unknown>>();
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
  const credential = `${CLIENT.id.replace(" ", "+")}:${encodeURIComponent(CLIENT.secret)}`;
  const server = await wildServer();
  let isDown = false;
  server.behave(({ url, headers, body }, response) => {
    if (isDown) return response.writeHead(503).end();
    if (url === "/realm/.well-known/openid-configuration") {
      return json(response, 200, {
        issuer,
        jwks_uri: `${issuer}/keys`,
        introspection_endpoint: `${issuer}/introspect`,
      });
    }
    if (url === "/realm/keys") return json(response, 200, { keys: [jwk] });
    if (url !== "/realm/introspect") return response.writeHead(404).end();
    const basic = Buffer.from(headers.authorization?.replace("Basic ", "") ?? "", "base64");
    if (basic.toString() !== credential) return response.writeHead(401).end();
    const token = new URLSearchParams(body).get("token") ?? "";
    return json(response, 200, opaque.get(token) ?? { active: false });
  });
  const issuer = `${server.url}/realm`;

  /** Issues a token for an audience; the options make it invalid. */
  const token = (
    audience: string,
    { claims = {}, kid = "one", typ = "at+jwt", ended = false }: Signed = {},
    key = privateKey,
  ): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const exp = ended === true ? now - 300 : now + 300;
    const ends = ended === "never" ? {} : { exp };
    const own = { iss: issuer, sub: "subject-1", scope: "read write openid", ...ends };
    return new SignJWT({ ...own, ...claims })
      .setProtectedHeader({ alg: "ES256", kid, typ })
      .setAudience(audience)
      .setIssuedAt(now - 600)
      .sign(key);
  };

  return {
    issuer,
    seen: server.seen,
    token,
    /** Adds an opaque token with its introspection response. */
    addOpaque: (text: string, answer: Record<string, unknown>) => opaque.set(text, answer),
    down: (is: boolean) => {
      isDown = is;
    },
    close: () => server.close(),
  };
};
