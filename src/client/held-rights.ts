import { HELD_RIGHTS } from "../contract/index.ts";
import { isPermission, isScope, type Permission, type Scope } from "../contract/permissions.ts";
import type { WireReply } from "./port.ts";

const MAX_CHARACTERS = 4000;

/** Returns the rights that an answer names; undefined if it names none. Unknown ones are left out. */
export const parseHeldRights = ({
  headers,
}: Pick<WireReply, "headers">): (Permission | Scope)[] | undefined => {
  const text = headers[HELD_RIGHTS.header];
  if (text === undefined || text.length > MAX_CHARACTERS) return undefined;
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => isPermission(part) || isScope(part));
};
