import { Problem } from "../../contract/errors.ts";
import type { Config } from "../../config/config.ts";
import { namesIn } from "../../kit/json.ts";
import type { Directory } from "../../oauth/directory.ts";
import type { Shared } from "./compose.ts";
import { withProfile } from "./profile.ts";

/** Settings that need the people of the store. */
const listDirectorySettings = ({ http, issuer }: Config): string[] =>
  namesIn({
    RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE: http.identityProvidersFile,
    RECEIVABLES_SIGN_IN_ISSUER: http.company,
    RECEIVABLES_OAUTH_PERSON_CLAIM: issuer?.personClaim,
  });

/** Refuses settings that find people, in front of a platform with a store of its own. @throws {Problem} invalid_request */
export const checkDirectory = async (config: Config): Promise<void> => {
  const { remote } = await withProfile(config);
  const [setting] = listDirectorySettings(config);
  if (remote === undefined || setting === undefined) return;
  throw new Problem(
    "invalid_request",
    `${setting} finds people in the platform's store, which this server does not share: its platform is at ${remote.gateway}. Unset it, or run this server with the embedded platform.`,
  );
};

/** Opens the people and clients of the embedded platform; a remote one has its own store. */
export const openDirectory = async (
  shared: Shared,
  remote: Config["remote"],
): Promise<Directory | undefined> => {
  if (remote !== undefined) return undefined;
  const { createDirectory } = await import("../../platform/admin/directory.ts");
  return createDirectory((await shared.embedded()).platform);
};
