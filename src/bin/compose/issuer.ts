import { Problem } from "../../contract/errors.ts";
import { SECOND, systemClock } from "../../kit/clock.ts";
import { createLazy } from "../../kit/lazily.ts";
import { createBearerGate } from "../../mcp/http/bearer.ts";
import { createBriefCache } from "../../mcp/http/brief-cache.ts";
import type { IssuerPeople } from "../../oauth/issuer-people.ts";
import type { IssuerSettings } from "../../config/config.ts";
import { type Identity, openSealingKey, type Shared } from "./compose.ts";
import { checkDirectory, openDirectory } from "./directory.ts";
import type { Entrance } from "./entrance.ts";
import { withProfile } from "./profile.ts";
import { openSubjects } from "./subjects.ts";

/** Begins the name of a person of the store; no profile has such a name. */
const PERSON = "person:";

const openPeople = async (shared: Shared, issuer: string): Promise<IssuerPeople> => {
  const config = await withProfile(shared.config);
  const directory = await openDirectory(shared, config.remote);
  if (directory === undefined) throw new Error("a remote platform has its own store");
  const { createIssuerPeople } = await import("../../oauth/issuer-people.ts");
  return createIssuerPeople({
    directory,
    issuer,
    storage: await shared.oauthStorage(),
    masterKey: await shared.masterKey(),
    client: shared.clientOf(config),
    headerWord: config.headerWord,
    platform: "embedded",
    tenantId: config.tenantId,
    now: systemClock,
    log: shared.log,
  });
};

const createIdentityOf =
  (people: () => Promise<IssuerPeople>): NonNullable<Entrance["identityOf"]> =>
  async (name): Promise<Identity | undefined> => {
    if (!name.startsWith(PERSON)) return undefined;
    const id = name.slice(PERSON.length);
    const find = async () => {
      const found = await (await people()).findCredential(id);
      if (found !== undefined) return found;
      throw new Problem("unauthenticated", "Your access has ended. Connect again.");
    };
    const { email, tenantId } = await find();
    const refused = async () =>
      (await (await people()).forgetIfKeyInvalid(id))
        ? new Problem("unavailable", "Your access to the platform was renewed. Try again.")
        : undefined;
    return { tenantId, principal: email.toLowerCase(), credentials: find, refused };
  };

/** Opens the authentication by tokens of an external issuer. */
export const openIssuerEntrance = async (
  shared: Shared,
  issuer: IssuerSettings,
): Promise<Entrance> => {
  const { config, log } = shared;
  const { url, audience, clientId, clientSecret, personClaim } = issuer;
  await checkDirectory(config);
  const profileOf = await openSubjects(config);
  const key = await openSealingKey(shared);
  const { createIssuerVerifier } = await import("../../mcp/http/issuer.ts");
  const client =
    clientId === undefined || clientSecret === undefined
      ? undefined
      : { id: clientId, secret: clientSecret };
  const people = createLazy(() => openPeople(shared, url));
  const load = async (email: string): Promise<string | undefined> => {
    const id = await (await people()).find(email);
    return id === undefined ? undefined : PERSON + id;
  };
  const personOf = createBriefCache({ load, ms: SECOND, now: systemClock });
  return {
    auth: "issuer",
    gateAt(resource) {
      const whom = { issuer: url, audience: audience ?? resource.href };
      const verify = createIssuerVerifier({
        ...whom,
        client,
        profileOf,
        personClaim,
        personOf,
        key,
        fetch,
        now: systemClock,
        log,
      });
      return createBearerGate({ verify, resource, issuers: [url], now: systemClock, log });
    },
    ...(personClaim === undefined
      ? {}
      : { identityOf: createIdentityOf(people), isProfile: (name) => !name.startsWith(PERSON) }),
  };
};
