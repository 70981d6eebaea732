import { contract } from "../contract/index.ts";
import type { Assignee } from "../contract/operations/assignees.ts";
import type { InsightContext } from "./insight.ts";
import { readPart, type Unavailable } from "./read-part.ts";

const { users, assignees } = contract;

type Person = { firstName: string; lastName: string; email: string };

const nameOf = ({ firstName, lastName, email }: Person): string =>
  [firstName, lastName].join(" ").trim() || email;

export type Names = { of: ReadonlyMap<string, string>; refused?: Unavailable };

export const noNames: Names = { of: new Map() };

/** Reads the names of people by the ids of their users: of all users, or of assignees where users may not be read. */
export const readNames = async (context: InsightContext): Promise<Names> => {
  const all = await readPart(context, users.list, {});
  if (all.refused === undefined) {
    return { of: new Map(all.value.map((user) => [user.userId, nameOf(user)])) };
  }
  const some = await readPart(context, assignees.list, {});
  const people = some.refused === undefined ? some.value : [];
  const named = people.flatMap(({ userId, person }: Assignee): [string, string][] =>
    userId === null ? [] : [[userId, nameOf(person)]],
  );
  return { of: new Map(named), refused: all.refused };
};

/** Reads the names of assignees by their ids; none where they may not be read. */
export const readAssigneeNames = async (context: InsightContext): Promise<Map<string, string>> => {
  const part = await readPart(context, assignees.list, {});
  const all = part.refused === undefined ? part.value : [];
  return new Map(all.map(({ assigneeId, person }) => [assigneeId, nameOf(person)]));
};
