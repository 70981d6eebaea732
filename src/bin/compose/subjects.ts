import { Problem } from "../../contract/errors.ts";
import type { Config } from "../../config/config.ts";
import { followFile } from "../../config/private-file.ts";
import { readProfilesFile } from "./profile.ts";

const invalidRequest = (message: string): Problem => new Problem("invalid_request", message);

/** Returns the profile of each OAuth subject. */
const readProfilesBySubject = (config: Config): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const { name, subjects = [] } of readProfilesFile(config)) {
    for (const subject of subjects) {
      const other = found.get(subject);
      if (other !== undefined) {
        throw invalidRequest(
          `The profiles ${other} and ${name} have the same subject; a subject can have one profile.`,
        );
      }
      found.set(subject, name);
    }
  }
  return found;
};

/**
 * Returns a lookup of the profile of an issuer's subject. It reads the profiles file again when the file changes. Only
 * listed subjects have access: having an account at the issuer is not enough.
 */
export const openSubjects = async (
  config: Config,
): Promise<(subject: string) => Promise<string | undefined>> => {
  const { profilesFile: path } = config;
  if (path === undefined && config.issuer?.personClaim !== undefined) return async () => undefined;
  const first = readProfilesBySubject(config);
  if (path === undefined || (first.size === 0 && config.issuer?.personClaim === undefined)) {
    throw invalidRequest(
      'No subject of the issuer has access: add subjects to profiles in RECEIVABLES_PROFILES_FILE, as {"NAME": {"subjects": ["SUBJECT"], …}}.',
    );
  }
  const read = await followFile(
    path,
    () => first,
    () => readProfilesBySubject(config),
  );
  return async (subject) => (await read()).get(subject);
};
