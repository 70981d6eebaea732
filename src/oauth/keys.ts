import { createPrivateKey, type JsonWebKey } from "node:crypto";
import { keysFor, type MasterKey } from "../kit/seal.ts";

// RFC 8410: the PKCS #8 prefix of an Ed25519 key of 32 bytes.
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

const toSigningKey = (seed: Buffer): JsonWebKey => {
  const der = Buffer.concat([ED25519_PREFIX, seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "jwk" });
};

/**
 * Derives the provider's keys from the master key, so that all processes share them. The first one signs; the others
 * verify what former master keys signed.
 */
export const deriveSigningKeys = (masterKey: MasterKey): JsonWebKey[] =>
  keysFor(masterKey, "oauth-signing").map(toSigningKey);
