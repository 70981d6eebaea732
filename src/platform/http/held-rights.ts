import { HELD_RIGHTS } from "../../contract/index.ts";
import type { Principal } from "../handlers.ts";
import type { RequestContext } from "./context.ts";

/** The permissions of a person who has not entered a tenant. */
export const NO_PERMISSIONS: Principal["may"] = new Set();

/**
 * Names the rights of the credential in an answer to the MCP server, refusals included, so that it lists only the tools
 * that they allow. Empty for other clients, and for answers that shared caches may store.
 */
export const buildHeldRights = ({
  origin,
  operation,
  caller,
}: Pick<RequestContext, "origin" | "operation" | "caller">): Record<string, string> => {
  if (origin !== "mcp" || caller === null || caller.may === NO_PERMISSIONS) return {};
  if (operation.cacheSeconds > 0) return {};
  return { [HELD_RIGHTS.header]: [...caller.may].join(", ") || "none" };
};
