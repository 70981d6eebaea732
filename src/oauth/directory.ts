/** A tenant as people choose it. */
export type Tenant = { id: string; name: string };

/** A client that an administrator created, as the platform's store has it. */
export type DirectoryClient = {
  id: string;
  name: string;
  tenant: Tenant;
  /** Its public keys as the JSON of a JWK set; undefined for a client with a secret. */
  jwks: string | undefined;
  /** The SHA-256 of its secret in base64url. */
  secretHash: string | undefined;
  /** Changes with each new credential. */
  version: number;
};

/** The verification of a person's identity: its method, and the provider that made it. */
export type Verified = { method: "OPENID" | "ID_JAG" | "ACCESS_TOKEN"; issuer: string };

/** An active person, with their tenants; the default one is first. */
export type DirectoryPerson = { userId: string; email: string; tenants: Tenant[] };

/** People and clients of the platform, for servers that share its store. */
export type Directory = {
  /** Finds an active person by e-mail address. */
  findPerson(email: string): Promise<DirectoryPerson | undefined>;
  /** Opens a session of an active person by their verified e-mail address; undefined where there is none. */
  openSession(
    email: string,
    verified: Verified,
  ): Promise<(DirectoryPerson & { token: string }) | undefined>;
  findClient(id: string): Promise<DirectoryClient | undefined>;
  /** Creates an API key of a client; undefined if its credential was replaced since this version. */
  createClientKey(
    client: Pick<DirectoryClient, "id" | "version">,
  ): Promise<{ keyId: string; apiKey: string } | undefined>;
};

/** Ids of clients that administrators create are UUIDs; those of other clients are URLs or 21 random characters. */
export const isDirectoryId = (id: unknown): id is string =>
  typeof id === "string" && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id);
