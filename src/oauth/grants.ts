import { hash } from "node:crypto";
import { toErrorFields } from "../kit/log.ts";
import type { OauthContext } from "./context.ts";
import { removeIfUngranted } from "./people.ts";
import type { Scope } from "./scopes.ts";

/** The kinds of records that are removed with their grant. */
const DEPENDENT_KINDS = ["AccessToken", "RefreshToken", "AuthorizationCode", "Connection"];

/** A grant as the list of connected programs shows it. */
export type Connection = {
  grantId: string;
  personId: string;
  client: string;
  /** The host of the client's metadata document or redirect URI. */
  host: string;
  scopes: Scope[];
  /** Epoch milliseconds. */
  since: number;
};

/** Derives an identifier of a grant for the page's forms, which does not reveal the grant's id. */
export const connectionHandle = ({ grantId }: Connection): string =>
  hash("sha256", grantId, "base64url").slice(0, 22);

/** Revokes a grant and its tokens, and deletes the person's API key with their last grant. */
export const revokeGrant = async (context: OauthContext, grantId: string): Promise<void> => {
  const { records, log } = context;
  const grant = await records.find("Grant", grantId);
  // The grant is removed first, because tokens are invalid without it.
  await records.remove("Grant", grantId);
  await Promise.all(DEPENDENT_KINDS.map((kind) => records.removeByGrant(kind, grantId)));
  const personId = grant?.value["accountId"];
  if (typeof personId !== "string") return;
  log.info("oauth.grant_ended", { person: personId });
  await removeIfUngranted(context, personId).catch((error: unknown) =>
    log.warn("oauth.leave", toErrorFields(error)),
  );
};

export const saveConnection = (
  { records }: OauthContext,
  connection: Connection,
  expiresAt: number,
): Promise<void> =>
  records.write({
    kind: "Connection",
    id: connection.grantId,
    value: connection,
    expiresAt,
    grantId: connection.grantId,
    owner: connection.personId,
  });

export const listConnections = async (
  { records }: OauthContext,
  personId: string,
): Promise<Connection[]> => (await records.listByOwner("Connection", personId)) as Connection[];
