import { describe, expect, it } from "vitest";
import {
  HOSTS,
  createLineLog,
  createOptions,
  readProblem,
  type Result,
  YES,
  withoutAbout,
} from "./hosts.ts";
import { type ScriptedReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const SECRET = "canary-0123456789-0123456789-0123456789-xyz";

const created = ({ callbackUrl }: Record<string, unknown>) => ({
  id: "hook-1",
  tenantId: "tenant-1",
  callbackUrl,
  secret: SECRET,
  createdAt: "2026-03-02T09:00:00.000Z",
  updatedAt: "2026-03-02T09:00:00.000Z",
  also: `the secret is ${SECRET}`,
});

const ARGS = { callbackUrl: "https://hooks.example/in", scheduleId: "s-1" };

const DELIVERIES = Array.from({ length: 100 }, (_, index) => ({
  webhookId: "hook-1",
  scheduleId: `s-${index}`,
  event: "export.completed",
  attempt: 1,
  status: "delivered",
  httpStatus: 204,
  error: null,
  createdAt: "2026-03-02T09:00:00.000Z",
}));

const PLAYS: Record<string, ScriptedReply> = {
  "webhooks.create": created,
  "webhooks.delete": () => null,
  "webhooks.list": () => ({ data: [{ id: "hook-1" }, { id: "hook-2" }] }),
  "webhooks.list_deliveries": () => ({ data: DELIVERIES }),
};

describe.each(HOSTS)("webhooks (%s)", (_name, open) => {
  verifies("D-MCP-2", "D-MCP-4");
  it("are created after confirmation, and the secret is stored", async () => {
    const broker = scriptBroker(PLAYS);
    const { lines, log } = createLineLog();
    const questions: string[] = [];
    const host = await open(await createOptions(broker, { log }), (question) => {
      questions.push(question);
      expect(broker.seen).toEqual([]);
      return YES(question);
    });
    const result = await host.call("webhooks_create", ARGS);
    expect(questions).toEqual([
      'Send the outcome of each run of schedule s-1 to "https://hooks.example/in"?',
    ]);
    expect(withoutAbout(result)).toEqual({
      id: "hook-1",
      tenantId: "tenant-1",
      callbackUrl: ARGS.callbackUrl,
      createdAt: "2026-03-02T09:00:00.000Z",
      updatedAt: "2026-03-02T09:00:00.000Z",
      secretStoredAs: "webhook-secret-hook-1",
    });
    expect(broker.kept).toEqual([{ name: "webhook-secret-hook-1", value: SECRET }]);
    expect(JSON.stringify(result) + lines.join("")).not.toContain(SECRET);
  });

  verifies("C-72");
  it("name the host of an address that is too long to show", async () => {
    const questions: string[] = [];
    const host = await open(await createOptions(scriptBroker(PLAYS)), (question) => {
      questions.push(question);
      return { action: "decline" };
    });
    const name = `hooks.acme.example.${"a".repeat(60)}.${"b".repeat(60)}.evil.example`;
    await host.call("webhooks_create", { callbackUrl: `https://${name}/in` });
    expect(questions).toEqual([expect.stringContaining(`…" at ${name}?`)]);
  });

  it("are not created when the person declines", async () => {
    const broker = scriptBroker(PLAYS);
    const host = await open(await createOptions(broker), () => ({ action: "decline" }));
    const result = await host.call("webhooks_create", { callbackUrl: ARGS.callbackUrl });
    expect(readProblem(result).code).toBe("declined");
    expect([broker.seen, broker.kept]).toEqual([[], []]);
  });

  it("are deleted again if the secret cannot be stored, and it is not shown", async () => {
    const broker = scriptBroker(PLAYS);
    broker.vault.put = () => Promise.reject(new Error("disk full"));
    const host = await open(await createOptions(broker), YES);
    const result = await host.call("webhooks_create", ARGS);
    expect(readProblem(result).code).toBe("internal");
    expect(broker.seen.map(({ id, args }) => [id, args])).toEqual([
      ["webhooks.create", ARGS],
      ["webhooks.delete", { id: "hook-1" }],
    ]);
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  it("are listed in the form of the export API", async () => {
    const host = await open(await createOptions(scriptBroker(PLAYS)));
    expect(withoutAbout(await host.call("webhooks_list"))).toEqual({
      data: [{ id: "hook-1" }, { id: "hook-2" }],
      pagination: { cursor: null, hasMore: false, rowCount: 2 },
      truncated: false,
    });
  });

  verifies("C-73");
  it("list deliveries across results without repetition and gaps", async () => {
    const settings = { answerTokens: 2000 };
    const host = await open(await createOptions(scriptBroker(PLAYS), { settings }));
    const found: unknown[] = [];
    let cursor: unknown;
    let calls = 0;
    do {
      const more = cursor === undefined ? {} : { cursor };
      const result: Result = await host.call("webhooks_list_deliveries", { id: "hook-1", ...more });
      const { data, pagination } = result.structuredContent as {
        data: unknown[];
        pagination: { cursor: string | null };
      };
      found.push(...data);
      ({ cursor } = pagination);
      calls += 1;
    } while (cursor !== null);
    expect(found).toEqual(DELIVERIES);
    expect(calls).toBeGreaterThan(2);
  });
});
