import { contract } from "../index.ts";
import { isList, type Operation } from "../operation.ts";

const parseNoun = ({ id }: Operation): string => id.split(".")[0] ?? "";

const toWords = (noun: string): string => noun.replaceAll("_", " ");

export const tags: readonly string[] = Object.keys(contract).map(toWords);

export const toTag = (operation: Operation): string => toWords(parseNoun(operation));

export const needsCredential = ({ access }: Operation): boolean => access !== "public";

export const isGateway = ({ service }: Operation): boolean => service === "gateway";

export const isExport = ({ service }: Operation): boolean => service === "export";

export const isIngest = ({ service }: Operation): boolean => service === "ingest";

export const isCreating = ({ effect }: Operation): boolean => effect === "create";

const isTenant = (name: string): boolean => name === "tenantId";

export const hasTenant = ({ params }: Operation): boolean =>
  Object.keys(params.shape).some(isTenant);

/** Returns whether the path contains a record id, so that the operation can return 404. */
export const hasRecordId = ({ params }: Operation): boolean =>
  Object.keys(params.shape).some((name) => !isTenant(name));

export const isPaged = ({ query }: Operation): boolean => "Page" in query.shape;

/** Returns whether the response has `X-Total-Count`. */
export const hasTotalCount = (operation: Operation): boolean =>
  isList(operation) || "page" in (operation.body?.shape ?? {});

export const isRateLimited = (operation: Operation): boolean =>
  needsCredential(operation) ||
  isExport(operation) ||
  operation.errors.includes("invalid_credentials");

/** Returns whether shared caches may store the response. */
export const isCacheable = ({ cacheSeconds }: Operation): boolean => cacheSeconds > 0;

/** Returns whether the operation's records have versions: those with an update operation. */
const hasVersions = (operation: Operation): boolean =>
  Object.hasOwn(contract[parseNoun(operation) as keyof typeof contract], "update");

/** Returns whether the response has an `ETag` with the record's version. */
export const hasVersionInAnswer = (operation: Operation): boolean =>
  hasVersions(operation) &&
  operation.output !== null &&
  !isList(operation) &&
  (operation.effect !== "read" || hasRecordId(operation));

/** Returns whether the request may have `If-Match` with the version that the caller read. */
export const canRequireVersion = (operation: Operation): boolean =>
  hasVersions(operation) && operation.effect === "change";

const ACCESS_DESCRIPTIONS: Partial<Record<Operation["access"], string>> = {
  public: "Requires no credential.",
  caller: "Requires a credential.",
  member: "Requires a credential with access to the tenant.",
};

/** Returns a sentence about the access that the operation requires. */
export const describeAccess = ({ access, service }: Operation): string =>
  ACCESS_DESCRIPTIONS[access] ??
  (service === "gateway"
    ? `Requires the permission \`${access}\`.`
    : `Requires the scope \`${access}\`.`);
