import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from "jose";
import { MINUTE, SECOND } from "../kit/clock.ts";
import { isRecord, parseIfJson } from "../kit/json.ts";
import { listMetadataUrls } from "../kit/issuers.ts";
import type { OauthContext } from "./context.ts";
import { createBoundedFetch, createFetchDocument, type FetchDocument } from "./documents.ts";

const TIMEOUT_MS = 5 * SECOND;

/** The metadata or the keys of an identity provider cannot be read now. */
export class ProviderUnavailable extends Error {
  constructor(issuer: string, cause: unknown) {
    super(`the keys of ${issuer} cannot be read`, { cause });
    this.name = "ProviderUnavailable";
  }
}

/** Returns the address of an issuer's keys in a metadata document; undefined where it has none. */
const readKeysUrl = (issuer: string, text: string): URL | undefined => {
  const metadata = parseIfJson(text);
  if (!isRecord(metadata)) return undefined;
  if (metadata["issuer"] !== issuer) throw new Error("its metadata names another issuer");
  return URL.parse(String(metadata["jwks_uri"])) ?? undefined;
};

const findKeysUrl = async (issuer: string, fetch: FetchDocument): Promise<URL> => {
  let failure: unknown;
  for (const url of listMetadataUrls(issuer)) {
    const response = await fetch(url).catch((error: unknown) => {
      failure ??= error;
      return undefined;
    });
    if (response === undefined) continue;
    if (response.status !== 200) {
      failure ??= new Error(`${url} answers with status ${response.status}`);
      continue;
    }
    const keysUrl = readKeysUrl(issuer, await response.text());
    if (keysUrl !== undefined) return keysUrl;
    failure = new Error(`${url} names no keys`);
  }
  throw new Error("no metadata of it names keys", { cause: failure });
};

/** The parts of the authorization server that reading keys needs. */
type KeyNeeds = Pick<OauthContext, "hosts" | "ca" | "now">;

/** Creates the function that opens the keys of an identity provider: it finds their address, and reads them when used. */
const createOpenKeys = ({ hosts, ca, now }: KeyNeeds) => {
  const fetchDocument = createFetchDocument(ca === undefined ? { hosts } : { hosts, ca });
  const fetch = createBoundedFetch(fetchDocument, now);
  return async (issuer: string) => {
    const unavailable = (error: unknown): never => {
      throw new ProviderUnavailable(issuer, error);
    };
    const keysUrl = await findKeysUrl(issuer, fetch).catch(unavailable);
    return createRemoteJWKSet(keysUrl, {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: 30 * SECOND,
      cacheMaxAge: 10 * MINUTE,
      [customFetch]: (url) => fetch(url).catch(unavailable),
    });
  };
};

/**
 * Creates the lookup of the keys with which identity providers sign. Documents come from public addresses only. Keys are
 * read again every ten minutes, and for an unknown key id at most every 30 seconds.
 */
export const createProviderKeys = (needs: KeyNeeds) => {
  const open = createOpenKeys(needs);
  const known = new Map<string, JWTVerifyGetKey>();
  return async (issuer: string): Promise<JWTVerifyGetKey> => {
    const existing = known.get(issuer);
    if (existing !== undefined) return existing;
    const keys = await open(issuer);
    known.set(issuer, keys);
    return keys;
  };
};

/** Returns the number of keys that an identity provider publishes. @throws {ProviderUnavailable} */
export const countProviderKeys = async (issuer: string, needs: KeyNeeds): Promise<number> => {
  const keys = await createOpenKeys(needs)(issuer);
  await keys.reload();
  return keys.jwks()?.keys.length ?? 0;
};

export type ProviderKeys = ReturnType<typeof createProviderKeys>;
