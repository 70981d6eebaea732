import { LRUCache } from "lru-cache";
import { Secret } from "../kit/secret.ts";
import type { MasterKey } from "../kit/seal.ts";
import type { Storage } from "../records/port.ts";
import type { Directory, Tenant } from "./directory.ts";
import {
  ensurePerson,
  findPerson,
  forgetPerson,
  isKeyAccepted,
  type PeopleContext,
  type Person,
  personIdOf,
} from "./people.ts";
import { closeSession } from "./platform-session.ts";
import { createRecords } from "./records.ts";

export type IssuerPeopleNeeds = Omit<PeopleContext, "records"> & {
  directory: Directory;
  storage: Storage;
  masterKey: MasterKey;
  /** The issuer whose tokens name the people. */
  issuer: string;
  /** The only tenant that people may have, if the settings name one. */
  tenantId: string | undefined;
};

/** Maximum number of people whose tenants are remembered after their last request. */
const MAX_KNOWN = 10_000;

/** Creates the lookup of people of the store who call with an issuer's tokens, with an API key of their own each. */
export const createIssuerPeople = (needs: IssuerPeopleNeeds) => {
  const { directory, storage, masterKey, issuer, tenantId } = needs;
  const context: PeopleContext = { ...needs, records: createRecords(storage, masterKey) };
  const known = new LRUCache<string, { email: string; tenant: Tenant }>({ max: MAX_KNOWN });

  const connect = async (email: string, tenant: Tenant): Promise<Person | undefined> => {
    const opened = await directory.openSession(email, { method: "ACCESS_TOKEN", issuer });
    if (opened === undefined) return undefined;
    const session = { ...opened, token: new Secret(opened.token) };
    try {
      return await ensurePerson(context, session, tenant);
    } finally {
      await closeSession(context, session);
    }
  };

  return {
    /** Returns the id of an active person; undefined where there is none at the tenant. */
    async find(email: string): Promise<string | undefined> {
      const person = await directory.findPerson(email);
      const tenant = person?.tenants.find(({ id }) => tenantId === undefined || id === tenantId);
      if (person === undefined || tenant === undefined) return undefined;
      const id = personIdOf(context, person.userId, tenant.id);
      known.set(id, { email: person.email, tenant });
      return id;
    },
    /** Returns the credential of a person who was found; it is created at the first use. */
    async findCredential(
      id: string,
    ): Promise<{ email: string; tenantId: string; apiKey: Secret } | undefined> {
      const found = known.get(id);
      if (found === undefined) return undefined;
      const { email, tenant } = found;
      const person = (await findPerson(context, id)) ?? (await connect(email, tenant));
      return person && { email, tenantId: tenant.id, apiKey: person.apiKey };
    },
    /** Forgets a person's API key if the platform refuses it, so that the next call creates another. */
    async forgetIfKeyInvalid(id: string): Promise<boolean> {
      const person = await findPerson(context, id);
      if (person === undefined || (await isKeyAccepted(context, person))) return false;
      await forgetPerson(context, id);
      return true;
    },
  };
};

export type IssuerPeople = ReturnType<typeof createIssuerPeople>;
