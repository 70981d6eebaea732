import { createPrivateKey, type JsonWebKey } from "node:crypto";
import { keyFor } from "../kit/seal.ts";

// RFC 8410: what stands before the 32 bytes of an Ed25519 key in PKCS #8.
const ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The provider's keys come of the master key, so that all processes have the same. */
export const providerKeys = (masterKey: Buffer): { cookies: string[]; signing: JsonWebKey } => {
  const der = Buffer.concat([ED25519, keyFor(masterKey, "oauth-signing")]);
  const signing = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    cookies: [keyFor(masterKey, "oauth-cookies").toString("base64url")],
    signing: signing.export({ format: "jwk" }),
  };
};
