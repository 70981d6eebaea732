import { afterAll, beforeAll } from "vitest";
import type { TestPlatform } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { createTenantBroker, createRecords, type Tenant } from "./each-tool.ts";
import { type Host, connectModern, createOptions, type Person, type Result } from "./hosts.ts";

/** A tenant with a record of every kind, and a host over the real platform. */
export type OperationTenant = Tenant & {
  records: Records;
  host: Host;
  call(tool: string, args?: Record<string, unknown>): Promise<Result>;
  /** Calls a tool and returns its answer; throws with what it said if it is a refusal. */
  answer(tool: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The questions that a person was asked, in order. */
  questions: string[];
};

/** Opens such a tenant before the tests of a suite. The person confirms everything. */
export const openOperationTenant = (
  at: () => TestPlatform,
  tenantId: string,
): (() => OperationTenant) => {
  let opened: OperationTenant | undefined;
  beforeAll(async () => {
    const tenant = { at: at(), tenantId, admin: await at().tenant(tenantId) };
    const questions: string[] = [];
    const person: Person = (question) => {
      questions.push(question);
      return { action: "accept", content: { confirm: true } };
    };
    const host = await connectModern(await createOptions(await createTenantBroker(tenant)), person);
    const call = (tool: string, args: Record<string, unknown> = {}) => host.call(tool, args);
    const answer = async (tool: string, args: Record<string, unknown> = {}) => {
      const { isError, structuredContent, content } = await call(tool, args);
      if (isError === true) throw new Error(`${tool}: ${content[0]?.text ?? ""}`);
      return structuredContent ?? {};
    };
    opened = {
      ...tenant,
      records: await createRecords(tenant, "one"),
      host,
      call,
      answer,
      questions,
    };
  });
  afterAll(() => opened?.host.close());
  return () => {
    if (opened === undefined) throw new Error("the tenant is not open");
    return opened;
  };
};
