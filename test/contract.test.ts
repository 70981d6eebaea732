import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ERRORS, OPERATION_ERRORS, SHARED_ERRORS } from "../src/contract/errors.ts";
import { contract, operations } from "../src/contract/index.ts";
import {
  isDeleting,
  listAuditActions,
  mergeArguments,
  type Operation,
  parsePathParameters,
} from "../src/contract/operation.ts";
import { BUILT_IN_ROLES, isPermission, isScope, PERMISSIONS } from "../src/contract/permissions.ts";
import { verifies } from "./support/verifies.ts";

const routesOf = (operation: Operation) => [operation, ...operation.aliases];
const cases = operations.map((operation) => [operation.id, operation] as const);
const twice = (values: readonly string[]): string[] =>
  values.filter((value, index) => values.indexOf(value) !== index);

describe("the list", () => {
  it("uses each id and each route once", () => {
    expect(twice(operations.map(({ id }) => id))).toEqual([]);
    // Routes that differ only in parameter names are the same to a router.
    const routes = operations
      .flatMap(routesOf)
      .map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`);
    expect(twice(routes)).toEqual([]);
  });

  it("has each operation under its noun and verb", () => {
    const keys = Object.entries(contract).flatMap(([noun, group]) =>
      Object.keys(group).map((verb) => `${noun}.${verb}`),
    );
    expect(keys).toEqual(operations.map(({ id }) => id));
  });

  verifies("CONV-09");
  it("uses the documented areas and actions on every dispute path", () => {
    const actions = ["READ", "CREATE", "UPDATE", "DELETE"];
    const words = ["Dispute Management", "Dispute Configuration"].flatMap((area) =>
      actions.map((action) => `${area} : ${action}`),
    );
    const dispute = operations.filter(({ path }) => path.startsWith("/dispute/"));
    expect(new Set(dispute.map(({ access }) => access))).toEqual(new Set(words));
    expect(dispute.every(({ path }) => path.startsWith("/dispute/v1/tenants/{tenantId}/"))).toBe(
      true,
    );
  });

  verifies("RE-10", "DU-09");
  it("guards disputes and their configuration by the rights of each", () => {
    const actions: Record<string, string> = {
      GET: "READ",
      POST: "CREATE",
      PUT: "UPDATE",
      DELETE: "DELETE",
    };
    const { reasons, categories, departments, assignees, resolutions, disputes } = contract;
    const configuration: Operation[] = [
      reasons,
      categories,
      departments,
      assignees,
      resolutions,
    ].flatMap((noun) => Object.values(noun));
    expect(configuration.map(({ access }) => access)).toEqual(
      configuration.map(({ method }) => `Dispute Configuration : ${actions[method]}`),
    );
    expect(disputes.update.access).toBe("Dispute Management : UPDATE");
    expect(disputes.delete.access).toBe("Dispute Management : DELETE");
  });

  it("grants only existing permissions, and all of them to the highest role", () => {
    const granted = BUILT_IN_ROLES.flatMap(({ grants }) => grants);
    expect(granted.filter((grant) => !isPermission(grant))).toEqual([]);
    expect(BUILT_IN_ROLES[0]?.grants).toEqual(PERMISSIONS);
  });
});

describe.each(cases)("%s", (_id, operation) => {
  it("has exactly the path's parameters in its params", () => {
    for (const { path } of routesOf(operation)) {
      expect(parsePathParameters(path).toSorted(), path).toEqual(
        Object.keys(operation.params.shape).toSorted(),
      );
    }
  });

  it("names each argument once in path, query and body", () => {
    const { params, query, body } = operation;
    const names = [params, query, body].flatMap((part) => Object.keys(part?.shape ?? {}));
    expect(twice(names)).toEqual([]);
  });

  it("has a body only if its method or an alias allows one", () => {
    if (operation.body === null) return;
    const methods = routesOf(operation).map(({ method }) => method);
    expect(methods.some((method) => method !== "GET" && method !== "DELETE")).toBe(true);
  });

  it("requires access of the kind that its service checks", () => {
    const known = ["public", "caller", "member"].includes(operation.access);
    const guarded = operation.service === "gateway" ? isPermission : isScope;
    expect(known || guarded(operation.access), operation.access).toBe(true);
    const hasTenant = parsePathParameters(operation.path).includes("tenantId");
    const needsTenant =
      operation.service === "gateway" && !["public", "caller"].includes(operation.access);
    expect(hasTenant).toBe(needsTenant);
  });

  it("returns the status of its effect", () => {
    const { effect, status, output } = operation;
    const change = isDeleting(operation) ? 204 : 200;
    expect(status).toBe({ read: 200, session: 200, create: 201, change }[effect]);
    expect(output === null).toBe(status === 204);
  });

  it("lists only operation error codes in errors", () => {
    expect(operation.errors.filter((code) => !Object.hasOwn(OPERATION_ERRORS, code))).toEqual([]);
    expect(twice(operation.errors)).toEqual([]);
  });

  it("has a summary of one short line", () => {
    expect(operation.summary).toMatch(/^[A-Z][^\n]{3,90}\.$/);
  });

  it("names its audit actions as noun and past", () => {
    const actions = listAuditActions(operation);
    for (const action of actions) expect(action).toMatch(/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/);
    const { audit } = operation;
    if (typeof audit === "string") return;
    const outcomes = [undefined, 0, 1, 2].flatMap((status) =>
      [200, 201, 401].map((code) => ({ status: code, body: { status } })),
    );
    expect(new Set(outcomes.map(audit.choose))).toEqual(new Set(actions));
  });

  it("has arguments and outputs that convert to JSON Schema", () => {
    const input = z.toJSONSchema(z.object(mergeArguments(operation)), { io: "input" });
    expect(Object.keys(input.properties ?? {})).toEqual(Object.keys(mergeArguments(operation)));
    if (operation.output === null) return;
    expect(z.toJSONSchema(operation.output).type).toMatch(/^(object|array)$/);
  });
});

describe("the table of errors", () => {
  it("has each code once, with an error status and a title", () => {
    expect(twice([...Object.keys(SHARED_ERRORS), ...Object.keys(OPERATION_ERRORS)])).toEqual([]);
    for (const [code, { status, title }] of Object.entries(ERRORS)) {
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(title, code).toMatch(/^[A-Z].*[^.]$/);
    }
  });

  it("has no unused code", () => {
    const used = new Set(operations.flatMap(({ errors }) => errors));
    expect(
      Object.keys(OPERATION_ERRORS).filter((code) => ![...used].some((name) => name === code)),
    ).toEqual([]);
  });
});
