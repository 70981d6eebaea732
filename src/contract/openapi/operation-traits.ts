import { contract } from "../index.ts";
import { isList, type Operation } from "../operation.ts";

/** What a reader of the document wants to know of an operation and its declaration implies. */

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

/** Whether the path names a record, which may be missing. */
export const hasRecordId = ({ params }: Operation): boolean =>
  Object.keys(params.shape).some((name) => !isTenant(name));

export const isPaged = ({ query }: Operation): boolean => "Page" in query.shape;

/** Whether the answer says how many records there are on all pages together. */
export const hasTotalCount = (operation: Operation): boolean =>
  isList(operation) || "page" in (operation.body?.shape ?? {});

export const isRateLimited = (operation: Operation): boolean =>
  needsCredential(operation) ||
  isExport(operation) ||
  operation.fails.includes("invalid_credentials");

/** Whether anybody may keep the answer for a while. */
export const isCacheable = ({ cacheSeconds }: Operation): boolean => cacheSeconds > 0;

/** Records that can be updated have versions. */
const hasVersions = (operation: Operation): boolean =>
  Object.hasOwn(contract[parseNoun(operation) as keyof typeof contract], "update");

/** Whether the answer names the version of the record it holds. */
export const hasVersionInAnswer = (operation: Operation): boolean =>
  hasVersions(operation) && operation.output !== null && !isList(operation);

/** Whether the change may be bound to the version that its sender has read. */
export const canRequireVersion = (operation: Operation): boolean =>
  hasVersions(operation) && operation.effect === "change";

const ACCESS_DESCRIPTIONS: Partial<Record<Operation["access"], string>> = {
  public: "Needs no credential.",
  caller: "Needs a credential.",
  member: "Needs a credential with access to the tenant.",
};

/** Who may call it, in words. */
export const describeAccess = ({ access, service }: Operation): string =>
  ACCESS_DESCRIPTIONS[access] ??
  (service === "gateway"
    ? `Needs the permission \`${access}\`.`
    : `Needs the scope \`${access}\`.`);
