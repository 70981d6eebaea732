import { createPrivateKey, type JsonWebKey } from "node:crypto";
import { keyFor } from "../kit/seal.ts";

// RFC 8410: the PKCS #8 prefix of an Ed25519 key of 32 bytes.
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** Derives the provider's signing key from the master key, so that all processes share it. */
export const deriveSigningKey = (masterKey: Buffer): JsonWebKey => {
  const der = Buffer.concat([ED25519_PREFIX, keyFor(masterKey, "oauth-signing")]);
  const signing = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return signing.export({ format: "jwk" });
};
