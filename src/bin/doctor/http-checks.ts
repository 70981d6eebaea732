import { access } from "node:fs/promises";
import { Problem } from "../../contract/errors.ts";
import { systemClock } from "../../kit/clock.ts";
import { createNetworks } from "../../kit/network.ts";
import { createResolve } from "../../kit/resolve.ts";
import { silentLog } from "../../kit/log.ts";
import { type Check, createFault, createPass, explainError } from "./checks.ts";
import type { Config, IssuerSettings } from "../../config/config.ts";
import { getDataPaths } from "../../config/folder.ts";
import { isProfile } from "../compose/profile.ts";
import { checkSignIn } from "./sign-in-checks.ts";
import { openSubjects } from "../compose/subjects.ts";
import { openTokensFile } from "../compose/tokens-file.ts";

/** Runs a check that returns its finding; an error becomes a failed check. */
const runCheck = async (
  check: string,
  hint: string,
  act: () => Promise<string>,
): Promise<Check> => {
  try {
    return createPass(check, await act());
  } catch (error) {
    return createFault(check, explainError(error), hint);
  }
};

const hasFile = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const checkTokens = async (config: Config): Promise<Check[]> => {
  const { auth, tokensFile } = config.http;
  const path = tokensFile ?? getDataPaths(config.dataFolder).httpTokens;
  // The default file is created at the first start.
  if (tokensFile === undefined && !(await hasFile(path))) return [];
  if ((auth ?? "static") !== "static" || (auth === undefined && config.issuer !== undefined)) {
    return [];
  }
  const hint = "Correct the file: one line per token, as TOKEN PROFILE SCOPES, and mode 0600.";
  const known = (name: string): Promise<boolean> => isProfile(config, name);
  return [
    await runCheck("http_tokens", hint, async () => {
      const tokens = await openTokensFile({ path, isProfile: known, log: silentLog });
      return `${path} has ${(await tokens()).length} valid tokens`;
    }),
  ];
};

const checkIssuerSettings = async (config: Config, issuer: IssuerSettings): Promise<Check[]> => {
  const { checkIssuer } = await import("../../mcp/http/issuer.ts");
  const canAsk = issuer.clientId !== undefined;
  return [
    await runCheck(
      "issuer",
      "RECEIVABLES_OAUTH_ISSUER must be the issuer's own identifier. Check its spelling and the connection.",
      async () => {
        const { keys, introspects } = await checkIssuer({ issuer: issuer.url, fetch });
        if (keys === undefined && !(introspects && canAsk)) {
          throw new Problem(
            "invalid_request",
            `${issuer.url} publishes no keys, and introspection needs RECEIVABLES_OAUTH_CLIENT_ID.`,
          );
        }
        const signed = keys === undefined ? "tokens are introspected" : `${keys} signing keys`;
        return `${issuer.url} publishes its metadata: ${signed}`;
      },
    ),
    await runCheck(
      "issuer_subjects",
      "Add the subjects of people to the profiles file.",
      async () => {
        await openSubjects(config);
        return config.profilesFile === undefined
          ? `people are found by the verified address in the claim ${issuer.personClaim}`
          : "the profiles file lists the subjects whose tokens are accepted";
      },
    ),
  ];
};

/** Checks the configured authentication of the MCP endpoint over HTTP. */
export const checkHttp = async (config: Config): Promise<Check[]> => {
  const { auth } = config.http;
  const usesIssuer = config.issuer !== undefined && (auth ?? "issuer") === "issuer";
  return [
    ...(await checkTokens(config)),
    ...(usesIssuer && config.issuer !== undefined
      ? await checkIssuerSettings(config, config.issuer)
      : []),
    ...(await checkSignIn(config, {
      fetch,
      hosts: { resolve: createResolve(), allowed: createNetworks([]) },
      now: systemClock,
    })),
  ];
};
