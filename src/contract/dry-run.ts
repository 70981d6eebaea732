import type { Operation } from "./operation.ts";

/**
 * A dry run of an operation: it is checked as a request that changes something, and rolled back. Platforms announce it
 * under this name. It has paths of its own, so that a platform without it refuses the request instead of acting on it.
 */
export const DRY_RUN = { name: "dry_run", path: "/dry-run" } as const;

/** Whether an operation has a dry run: all that create, change or delete records by a JSON request. */
export const hasDryRun = ({ effect, access, raw }: Operation): boolean =>
  (effect === "create" || effect === "change") && access !== "public" && raw === null;

/** Returns the name under which a caller finds that the service of an operation has dry runs. */
export const nameDryRun = ({ id }: Operation): string => `${id}.${DRY_RUN.name}`;

/** Returns the dry run as an operation for the client: it reads, and its answer has no body. */
export const toDryRun = (operation: Operation): Operation => ({
  ...operation,
  id: `${operation.id}.${DRY_RUN.name}`,
  path: `${DRY_RUN.path}${operation.path}`,
  aliases: [],
  effect: "read",
  repeatable: true,
  output: null,
  status: 204,
  list: null,
});
