import { Problem } from "../../contract/errors.ts";
import type { Config } from "../../config/config.ts";
import type { Directory } from "../../oauth/directory.ts";
import type { Shared } from "./compose.ts";
import { withProfile } from "./profile.ts";

/** Settings that need the people of the store. */
const listDirectorySettings = ({ http, issuer }: Config): string[] => [
  ...(http.identityProvidersFile === undefined
    ? []
    : ["RECEIVABLES_OAUTH_IDENTITY_PROVIDERS_FILE"]),
  ...(http.company === undefined ? [] : ["RECEIVABLES_SIGN_IN_ISSUER"]),
  ...(issuer?.personClaim === undefined ? [] : ["RECEIVABLES_OAUTH_PERSON_CLAIM"]),
];

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
