import { createHash, timingSafeEqual } from "node:crypto";
import { PROFILE_NAME } from "../../kit/profile-name.ts";
import type { Verify } from "./bearer.ts";
import { deriveCallerId, SCOPES, type Scope } from "../caller.ts";

/** One line of a file of tokens; the token itself is forgotten. */
export type StaticToken = { hash: Buffer; profile: string; scopes: readonly Scope[]; line: number };

export type ParsedTokens = {
  tokens: readonly StaticToken[];
  /** What is wrong, by line, without a token. */
  faults: readonly string[];
};

// As RFC 6750 has it, and long enough that nobody guesses it.
const TOKEN = /^[\w.~+/-]{32,512}={0,2}$/;

const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

const read = (text: string, line: number): StaticToken | string => {
  const [token = "", profile = "", scopes = "", ...more] = text.split(/\s+/);
  if (scopes === "" || more.length > 0) return "must be TOKEN PROFILE SCOPES";
  if (!TOKEN.test(token))
    return "has a token that is not 32 to 512 characters of A-Z a-z 0-9 -._~+/";
  if (!PROFILE_NAME.test(profile))
    return "names no profile: use a-z, 0-9, dot, dash and underscore";
  const names = scopes.split(",");
  if (!names.every(isScope)) return `has a scope that is none: use ${SCOPES.join(", ")}`;
  return { hash: hashOf(token), profile, scopes: names, line };
};

/** The tokens of a file, one a line as `TOKEN PROFILE SCOPES`; blank lines and those with # are passed over. */
export const parseTokens = (text: string): ParsedTokens => {
  const tokens: StaticToken[] = [];
  const faults: string[] = [];
  for (const [index, whole] of text.split("\n").entries()) {
    const line = index + 1;
    const said = whole.trim();
    if (said === "" || said.startsWith("#")) continue;
    const found = read(said, line);
    if (typeof found === "string") {
      faults.push(`line ${line} ${found}`);
      continue;
    }
    const first = tokens.find(({ hash }) => hash.equals(found.hash));
    if (first === undefined) tokens.push(found);
    else faults.push(`line ${line} has the token of line ${first.line}`);
  }
  return { tokens, faults };
};

/** Verifies against whatever the file says at that moment. */
export const createStaticVerifier =
  (current: () => Promise<readonly StaticToken[]>, key: Buffer): Verify =>
  async (token) => {
    const hash = hashOf(token);
    // Each is compared, so that the time taken tells nothing.
    const [known] = (await current()).filter((one) => timingSafeEqual(one.hash, hash));
    if (known === undefined) return "invalid";
    const { profile, scopes } = known;
    const id = deriveCallerId(key, "static", hash.toString("base64url"), profile);
    return { id, client: id, grant: id, profile, scopes, expiresAt: Infinity };
  };
