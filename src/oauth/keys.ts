import { createPrivateKey, type JsonWebKey } from "node:crypto";
import { keyFor } from "../kit/seal.ts";

// RFC 8410: what stands before the 32 bytes of an Ed25519 key in PKCS #8.
const ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Derives the provider's signing key from the master key, so that all processes have the same. */
export const providerSigningKey = (masterKey: Buffer): JsonWebKey => {
  const der = Buffer.concat([ED25519, keyFor(masterKey, "oauth-signing")]);
  const signing = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return signing.export({ format: "jwk" });
};
