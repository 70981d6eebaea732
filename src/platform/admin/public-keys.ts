import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { Problem } from "../../contract/errors.ts";
import { isRecord, parseIfJson } from "../../kit/json.ts";

/** A public key as JWK (RFC 7517). */
type Jwk = Record<string, unknown>;

const MAX_KEYS = 10;
const MIN_RSA_BITS = 2048;
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];
/** Members that describe a key, and are no part of it. */
const DESCRIPTIONS = ["kid", "use", "alg"];

const invalid = (message: string): never => {
  throw new Problem("invalid_request", message);
};

const checkStrength = ({ asymmetricKeyType: type, asymmetricKeyDetails = {} }: KeyObject): void => {
  const { modulusLength = 0, namedCurve = "" } = asymmetricKeyDetails;
  const isStrong =
    type === "ed25519" ||
    (type === "rsa" && modulusLength >= MIN_RSA_BITS) ||
    (type === "ec" && CURVES.includes(namedCurve));
  if (isStrong) return;
  invalid("A public key is RSA with at least 2,048 bits, EC on P-256, P-384 or P-521, or Ed25519.");
};

const importKey = (
  key: { key: JsonWebKey; format: "jwk" } | { key: string; format: "pem" },
): Jwk => {
  let imported: KeyObject;
  try {
    imported = createPublicKey(key);
  } catch {
    return invalid("The file has a key that cannot be read.");
  }
  checkStrength(imported);
  return imported.export({ format: "jwk" });
};

/**
 * Parses a public key in PEM.
 *
 * @throws {Problem} invalid_request, also for a private key
 */
export const parsePublicKey = (text: string): Jwk[] => {
  if (/PRIVATE KEY/.test(text)) {
    return invalid("The file has a private key. Keep it, and give the public key to this command.");
  }
  return [importKey({ key: text, format: "pem" })];
};

const parseJwk = (value: unknown): Jwk => {
  if (!isRecord(value)) return invalid("Each member of keys must be a JWK.");
  if ("d" in value || "k" in value) {
    return invalid("The file has a private or shared key. Give the public keys to this command.");
  }
  const described = Object.entries(value).filter(
    ([name, text]) => DESCRIPTIONS.includes(name) && typeof text === "string",
  );
  const key = importKey({ key: value, format: "jwk" });
  return { ...key, ...Object.fromEntries(described) };
};

/**
 * Parses a JWK set (RFC 7517) of public keys.
 *
 * @throws {Problem} invalid_request, also for private and shared keys
 */
export const parseJwks = (text: string): Jwk[] => {
  const set = parseIfJson(text);
  const keys: unknown[] = isRecord(set) && Array.isArray(set["keys"]) ? set["keys"] : [];
  if (keys.length === 0 || keys.length > MAX_KEYS) {
    return invalid(
      `The file must be a JWK set: {"keys": [...]} with 1 to ${MAX_KEYS} public keys.`,
    );
  }
  return keys.map(parseJwk);
};
