import { createPrivateKey, generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT } from "jose";

/** A key pair of a client, as PEM and as JWK. */
export const makeClientKeys = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    publicPem: publicKey.export({ format: "pem", type: "spki" }).toString(),
    privatePem: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    publicJwk: publicKey.export({ format: "jwk" }),
  };
};

export type ClientKeys = ReturnType<typeof makeClientKeys>;

/** Claims of an assertion. */
export type Claims = Record<string, unknown>;

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Signs a client assertion (RFC 7523, section 2.2); `claims` replace the usual ones. */
export const signClientAssertion = (
  { privatePem }: Pick<ClientKeys, "privatePem">,
  clientId: string,
  audience: string,
  claims: Claims = {},
): Promise<string> => {
  const usual = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    jti: randomUUID(),
    iat: nowSeconds(),
    exp: nowSeconds() + 60,
  };
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: "ES256" })
    .sign(createPrivateKey(privatePem));
};

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
