import { Problem } from "../../contract/errors.ts";
import { getMessage } from "../../kit/error.ts";
import { randomToken } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { createFileOnce } from "../../kit/once.ts";
import { SCOPES } from "../../mcp/caller.ts";
import { parseTokens, type StaticToken } from "../../mcp/http/static-tokens.ts";
import { readPrivate, readStamp } from "../../config/private-file.ts";

export type TokensFile = {
  path: string;
  /** Whether a profile of that name exists. */
  isProfile: (name: string) => Promise<boolean>;
  log: Log;
};

const HEADER = `# Who may call the MCP server over HTTP, one a line: TOKEN PROFILE SCOPES
# SCOPES is a comma list of ${SCOPES.join(", ")}. A change holds from the next request on.
`;

/** Creates the file with one token and returns that token; undefined if the file exists. */
export const createTokensFile = async (
  path: string,
  profile: string,
): Promise<string | undefined> => {
  const token = randomToken();
  const made = await createFileOnce(path, `${HEADER}${token} ${profile} ${SCOPES.join(",")}\n`);
  return made ? token : undefined;
};

type Read = { tokens: readonly StaticToken[]; faults: readonly string[] };

const readFile = async ({ path, isProfile }: TokensFile): Promise<Read> => {
  try {
    const { tokens, faults } = parseTokens(readPrivate(path));
    const known = await Promise.all(tokens.map(({ profile }) => isProfile(profile)));
    const strange = tokens.filter((_token, index) => known[index] === false);
    return {
      tokens: tokens.filter((_token, index) => known[index] === true),
      faults: [
        ...faults,
        ...strange.map(({ line, profile }) => `line ${line} names an unknown profile: ${profile}`),
      ],
    };
  } catch (error) {
    return { tokens: [], faults: [getMessage(error)] };
  }
};

/**
 * Returns a function that reads the current tokens. Faults at the start are thrown as one Problem; later faults are
 * logged and disable their lines, and an unreadable file has no tokens.
 */
export const openTokensFile = async (
  file: TokensFile,
): Promise<() => Promise<readonly StaticToken[]>> => {
  const { path, log } = file;
  let stamp = await readStamp(path);
  let read = await readFile(file);
  if (read.tokens.length === 0 && read.faults.length === 0) {
    read = { ...read, faults: ["has no token"] };
  }
  if (read.faults.length > 0) {
    throw new Problem("invalid_request", `The tokens file ${path}: ${read.faults.join("; ")}.`);
  }
  return async () => {
    const now = await readStamp(path);
    if (now !== stamp) {
      read = await readFile(file);
      stamp = now;
      const { tokens, faults } = read;
      log.info("http_tokens.read", { path, tokens: tokens.length });
      if (faults.length > 0) log.error("http_tokens.faults", { path, faults });
    }
    return read.tokens;
  };
};
