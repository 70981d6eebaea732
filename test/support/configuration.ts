import { expect } from "vitest";
import { PERMISSIONS, type Action } from "../../src/contract/permissions.ts";
import {
  CONFIGURATION,
  type Caller,
  DISPUTES,
  type Person,
  type TestPlatform,
} from "./platform.ts";

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

const RIGHT = "Dispute Configuration";

/** Creates a user with every right except this one, and a user with this right only. */
export const outsiderAndInsider = async (at: TestPlatform, tenantId: string, action: Action) => {
  const right = `${RIGHT} : ${action}` as const;
  const outsider = await at.person(tenantId, {
    grants: PERMISSIONS.filter((permission) => permission !== right),
  });
  const insider = await at.person(tenantId, { grants: [right] });
  return { outsider: below(outsider), insider: below(insider) };
};

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

type Request = [method: string, path: string];

/** Sends the action's request without and with the permission `Dispute Configuration : <action>`. */
export const tryRights = async (
  at: TestPlatform,
  action: Action,
  requests: Record<Action, Request>,
  body: object,
): Promise<{ refused: string; allowed: boolean }> => {
  const { outsider, insider } = await outsiderAndInsider(at, "acme", action);
  const [method, path] = requests[action];
  const sent = method === "POST" || method === "PUT" ? { body } : {};
  const refusal = await outsider(method, path, sent);
  const { status } = await insider(method, path, sent);
  return { refused: refusal.body.code, allowed: status < 300 };
};
