import { z } from "zod";
import { type Clock, DAY } from "../../kit/clock.ts";
import { createSeal } from "../../kit/seal.ts";
import { bindingOf, type Purpose, toPurpose } from "./binding.ts";
import type { ToolContext } from "./tool-context.ts";
import type { Paging, Position } from "../results/pages.ts";
import { badCursor } from "../results/refusal.ts";

const LIFE_MS = DAY;
const Sealed = z.tuple([
  z.string(),
  z.number(),
  z.union([z.int(), z.string(), z.null()]),
  z.int().min(0),
  z.string().nullable(),
  z.number().nullable().optional(),
]);

/** Cursors that only this server's key makes and reads; the platform's own one never leaves. */
export const createCursors = (key: Buffer, now: Clock) => {
  const sealed = createSeal(key, "mcp/cursor");
  return {
    seal: ({ page, offset, after, daysAt }: Position, purpose: Purpose): string =>
      sealed.seal([bindingOf(purpose), now() + LIFE_MS, page, offset, after, daysAt ?? null]),
    /** @throws {Problem} which says why the cursor is of no use here */
    open(cursor: string, purpose: Purpose): Position {
      const { success, data } = Sealed.safeParse(sealed.open(cursor));
      if (!success) throw badCursor("The cursor is not one that this server gave.");
      const [binding, expiresAt, page, offset, after, daysAt] = data;
      if (binding !== bindingOf(purpose)) {
        throw badCursor("The cursor belongs to a call with other arguments, or of someone else.");
      }
      if (expiresAt < now()) throw badCursor("The cursor has expired.");
      return { page, offset, after, ...(daysAt == null ? {} : { daysAt }) };
    },
  };
};

const RESOURCES = { name: "resources.read" };

/** Returns the paging of a resource without or with a cursor. @throws {Problem} for a cursor that is of no use here */
export type OpenPaging = (uri: string, cursor: string | undefined) => Paging;

/** Creates the paging of resources. The name of the list stands before its cursor, which is bound to it. */
export const createOpenPaging = (
  context: Pick<ToolContext, "key" | "now" | "caller" | "broker">,
): OpenPaging => {
  const { seal, open } = createCursors(context.key, context.now);
  return (uri, cursor) => {
    const purposeOf = (part: string) => toPurpose(context, RESOURCES, { uri, part });
    const part = cursor?.split(".", 1)[0] ?? "";
    return {
      from:
        cursor === undefined
          ? null
          : { part, position: open(cursor.slice(part.length + 1), purposeOf(part)) },
      seal: (place) => `${place.part}.${seal(place.position, purposeOf(place.part))}`,
    };
  };
};
