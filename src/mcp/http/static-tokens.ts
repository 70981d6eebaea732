import { hash, timingSafeEqual } from "node:crypto";
import { PROFILE_NAME } from "../../kit/profile-name.ts";
import type { Verify } from "./bearer.ts";
import { deriveCallerId, SCOPES, type Scope } from "../caller.ts";

/** One line of a tokens file. Only the hash of the token is stored. */
export type StaticToken = { hash: Buffer; profile: string; scopes: readonly Scope[]; line: number };

export type ParsedTokens = {
  tokens: readonly StaticToken[];
  /** Messages with line numbers; they contain no token. */
  faults: readonly string[];
};

// The syntax of RFC 6750, section 2.1; 32 characters at least, so that a token cannot be guessed.
const TOKEN = /^[\w.~+/-]{32,512}={0,2}$/;

const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);

const hashToken = (token: string): Buffer => hash("sha256", token, "buffer");

const parseLine = (text: string, line: number): StaticToken | string => {
  const [token = "", profile = "", scopes = "", ...more] = text.split(/\s+/);
  if (scopes === "" || more.length > 0) return "must be TOKEN PROFILE SCOPES";
  if (!TOKEN.test(token))
    return "has a token that is not 32 to 512 characters of A-Z a-z 0-9 -._~+/";
  if (!PROFILE_NAME.test(profile))
    return "names no profile: use a-z, 0-9, dot, dash and underscore";
  const names = scopes.split(",");
  if (!names.every(isScope)) return `has an unknown scope: use ${SCOPES.join(", ")}`;
  return { hash: hashToken(token), profile, scopes: names, line };
};

/** Parses a tokens file: `TOKEN PROFILE SCOPES` per line; blank lines and lines with # at the start are ignored. */
export const parseTokens = (file: string): ParsedTokens => {
  const tokens: StaticToken[] = [];
  const faults: string[] = [];
  for (const [index, whole] of file.split("\n").entries()) {
    const line = index + 1;
    const text = whole.trim();
    if (text === "" || text.startsWith("#")) continue;
    const parsed = parseLine(text, line);
    if (typeof parsed === "string") {
      faults.push(`line ${line} ${parsed}`);
      continue;
    }
    const first = tokens.find(({ hash }) => hash.equals(parsed.hash));
    if (first === undefined) tokens.push(parsed);
    else faults.push(`line ${line} has the token of line ${first.line}`);
  }
  return { tokens, faults };
};

/** Creates a verifier against the current content of the tokens file. */
export const createStaticVerifier =
  (readCurrent: () => Promise<readonly StaticToken[]>, key: Buffer): Verify =>
  async (token) => {
    const hash = hashToken(token);
    // All are compared, so that the duration does not depend on the token.
    const [known] = (await readCurrent()).filter((one) => timingSafeEqual(one.hash, hash));
    if (known === undefined) return "invalid";
    const { profile, scopes } = known;
    const id = deriveCallerId(key, "static", hash.toString("base64url"), profile);
    return { id, client: id, grant: id, profile, scopes, expiresAt: Infinity };
  };
