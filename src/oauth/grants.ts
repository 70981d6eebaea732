import { createHash } from "node:crypto";
import { errorFields, type Log } from "../kit/log.ts";
import type { Records } from "./records.ts";
import type { Scope } from "./scopes.ts";

/** What ends with a grant. */
const OF_GRANT = ["AccessToken", "RefreshToken", "AuthorizationCode", "Connection"];

/** What a person is told of a grant of theirs. */
export type Connection = {
  grantId: string;
  personId: string;
  client: string;
  /** Where the client says it is at home. */
  host: string;
  scopes: Scope[];
  since: number;
};

/** A name of a grant that may stand in a page: knowing it ends nothing but in the person's own hands. */
export const handleOf = ({ grantId }: Connection): string =>
  createHash("sha256").update(grantId).digest("base64url").slice(0, 22);

export type GrantNeeds = {
  records: Records;
  /** Called after a grant has ended, with the person whose it was. */
  ended: (personId: string) => Promise<void>;
  log: Log;
};

export const createGrants = ({ records, ended, log }: GrantNeeds) => ({
  /** Ends a grant and all that was given out under it. */
  async end(grantId: string): Promise<void> {
    const grant = await records.find("Grant", grantId);
    // The grant first: without it nothing that is left of it is good for anything.
    await records.remove("Grant", grantId);
    await Promise.all(OF_GRANT.map((kind) => records.removeByGrant(kind, grantId)));
    const personId = grant?.value["accountId"];
    if (typeof personId !== "string") return;
    log.info("oauth.grant_ended", { person: personId });
    await ended(personId).catch((error: unknown) => log.warn("oauth.leave", errorFields(error)));
  },
  /** Notes what a grant is, for the person's own list. */
  note: (connection: Connection, expiresAt: number): Promise<void> =>
    records.write({
      kind: "Connection",
      id: connection.grantId,
      value: connection,
      expiresAt,
      grantId: connection.grantId,
      owner: connection.personId,
    }),
  async of(personId: string): Promise<Connection[]> {
    return (await records.ownedBy("Connection", personId)) as Connection[];
  },
});

export type Grants = ReturnType<typeof createGrants>;
