import { expect } from "vitest";
import { CONFIGURATION, type Caller, DISPUTES, type Person } from "./platform.ts";

/** A call below the tenant's dispute configuration. */
export const below =
  (person: Pick<Person, "call">): Caller =>
  (method, path, sent) =>
    person.call(method, `${CONFIGURATION}${path}`, sent);

/** A record as the platform made it. */
export const make = async (person: Pick<Person, "call">, path: string, body: unknown) => {
  const made = await below(person)("POST", path, { body });
  expect(made.status, made.text).toBe(201);
  return made.body;
};

/** Creates an open dispute with the reason and further fields. */
export const dispute = async (person: Person, body: Record<string, unknown>) => {
  const made = await person.call("POST", DISPUTES, {
    body: { amount: 10, accountNumber: "A-1", documentNumber: "INV-1", ...body },
  });
  expect(made.status, made.text).toBe(201);
  return made.body;
};

/** The codes of the faults that a refusal names, by field. */
export const faultsOf = (body: { errors: { field: string; code: string }[] }) =>
  Object.fromEntries(body.errors.map(({ field, code }) => [field, code]));

/** A body that tries to set what only the platform sets. */
export const FORGED = {
  tenantId: "elsewhere",
  id: "forged",
  createUser: "forged",
  createDate: "2001-01-01T00:00:00.000Z",
  updateUser: "forged",
  updateDate: "2001-01-01T00:00:00.000Z",
  version: 99,
};

/** The statuses of answers whose order is left to chance. */
export const statusesOf = (replies: { status: number }[]): number[] =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);
