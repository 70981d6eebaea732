import { afterAll, beforeAll } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import type { InsightResult } from "../../src/insights/insight.ts";
import { INSIGHT_TOKENS } from "../../src/mcp/tools/insight-call.ts";
import { o200kTokens } from "../support/o200k.ts";
import type { TestPlatform } from "../support/platform.ts";
import { createTenantBroker, type Tenant } from "./each-tool.ts";
import { type Host, connectModern, createOptions, type Result, readText } from "./hosts.ts";

/** Returns the answer of an insight; throws what the tool said if it failed, or if the answer is too long. */
export const answerIn = (result: Result, most = INSIGHT_TOKENS): InsightResult => {
  if (result.isError === true) throw new Error(readText(result));
  const tokens = Math.max(o200kTokens(readText(result)), o200kTokens(result.structuredContent));
  if (tokens > most) throw new Error(`${tokens} tokens`);
  return result.structuredContent as InsightResult;
};

/** Budgets of their own. */
const MOST: Readonly<Record<string, number>> = { dispute_packet: 3000 };

export type Asking = Tenant & {
  broker: Broker;
  host: Host;
  ask(name: string, args?: Record<string, unknown>): Promise<InsightResult>;
  refused(name: string, args?: Record<string, unknown>): Promise<string>;
};

/** A host with all rights at a tenant of its own. */
export const askAt = (at: () => TestPlatform, tenantId: string): (() => Asking) => {
  let asking: Asking | undefined;
  beforeAll(async () => {
    const tenant = { at: at(), tenantId, admin: await at().tenant(tenantId) };
    const broker = await createTenantBroker(tenant);
    const host = await connectModern(await createOptions(broker, { now: () => tenant.at.clock() }));
    asking = {
      ...tenant,
      broker,
      host,
      ask: async (name, args) => answerIn(await host.call(name, args), MOST[name]),
      refused: async (name, args) => readText(await host.call(name, args)),
    };
  });
  afterAll(async () => {
    await asking?.host.close();
    await asking?.broker.close();
  });
  return () => {
    if (asking === undefined) throw new Error("the host has not connected");
    return asking;
  };
};
