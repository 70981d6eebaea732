import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import {
  listChanges,
  ARGS,
  readConfirmation,
  createDeletion,
  UPDATE_REPLIES,
} from "./confirming.ts";
import {
  HOSTS,
  KEY,
  connectModern,
  createOptions,
  NOW,
  readProblem,
  readText,
  withoutAbout,
} from "./hosts.ts";
import { replayFolder } from "./replay-folder.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

describe.each(HOSTS)("a host that cannot ask (%s)", (_name, open) => {
  it("gets a token, in the text too, which executes the same call once", async () => {
    const broker = createDeletion();
    const host = await open(await createOptions(broker));
    const first = await host.call("departments_delete", ARGS);
    expect(readProblem(first).code).toBe("confirmation_required");
    expect(first).not.toHaveProperty("structuredContent");
    const { confirmationToken, expiresAt, summary } = readConfirmation(first);
    expect(readText(first)).toMatch(/^confirmation_required: .+ Next: .+/);
    expect(readText(first)).toContain(confirmationToken);
    expect(Date.parse(expiresAt) - NOW).toBe(10 * MINUTE);
    expect(summary).toBe("Delete department SALES (Sales and service)?");
    expect(listChanges(broker)).toEqual([]);

    const second = await host.call("departments_delete", { ...ARGS, confirmationToken });
    expect(withoutAbout(second)).toEqual({ deleted: true, ...ARGS });
    const third = await host.call("departments_delete", { ...ARGS, confirmationToken });
    expect(readProblem(third).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toHaveLength(1);
    expect(listChanges(broker)[0]?.args).toEqual(ARGS);
  });

  it("is refused with confirm=refuse, with and without a token", async () => {
    const broker = createDeletion();
    const lenient = await open(await createOptions(broker));
    const { confirmationToken } = readConfirmation(await lenient.call("departments_delete", ARGS));
    const host = await open(await createOptions(broker, { settings: { confirm: "refuse" } }));
    for (const args of [ARGS, { ...ARGS, confirmationToken }]) {
      const result = await host.call("departments_delete", args);
      expect(readProblem(result).code).toBe("confirmation_unavailable");
      expect(result._meta).not.toHaveProperty("receivables/confirmation");
    }
    expect(listChanges(broker)).toEqual([]);
    await Promise.all([lenient.close(), host.close()]);
  });
});

describe("a token", () => {
  const mint = async (
    setup: Parameters<typeof createOptions>[1] = {},
    broker = createDeletion(),
  ) => {
    const host = await connectModern(await createOptions(broker, setup));
    const { confirmationToken } = readConfirmation(await host.call("departments_delete", ARGS));
    await host.close();
    return confirmationToken;
  };

  const spend = async (
    args: Record<string, unknown>,
    { setup = {}, broker = createDeletion(), tool = "departments_delete" } = {},
  ) => {
    const host = await connectModern(await createOptions(broker, setup));
    const result = await host.call(tool, args);
    await host.close();
    return { result, broker };
  };

  verifies("C-66");
  it("is valid in all processes with the key, and once in total", async () => {
    const replayGuard = createReplayFolder(await replayFolder(), () => NOW);
    const other = createReplayFolder(await replayFolder(), () => NOW);
    const confirmationToken = await mint({ replayGuard });
    const args = { ...ARGS, confirmationToken };
    const results = await Promise.all(
      Array.from({ length: 5 }, () => spend(args, { setup: { replayGuard } })),
    );
    const acted = results.filter(({ broker }) => listChanges(broker).length > 0);
    expect(acted).toHaveLength(1);
    expect(results.filter(({ result }) => result.isError === true)).toHaveLength(4);
    // Another folder is another installation, which has its own replay guard.
    const elsewhere = await spend(args, { setup: { replayGuard: other } });
    expect(listChanges(elsewhere.broker)).toHaveLength(1);
  });

  verifies("C-77");
  it.each([
    ["other arguments", { departmentId: "dep-2" }, {}],
    ["another tenant", ARGS, { broker: createDeletion({ tenantId: "tenant-2" }) }],
    ["another credential", ARGS, { broker: createDeletion({ principal: "person-2" }) }],
    ["another person with the same", ARGS, { setup: { caller: "person-2" } }],
    ["another key", ARGS, { setup: { key: Buffer.alloc(32, 9) } }],
    ["a later time", ARGS, { setup: { now: () => NOW + 10 * MINUTE + 1 } }],
    ["another tool", { departmentCode: "dep-1" }, { tool: "departments_delete_by_code" }],
  ] as [string, Record<string, unknown>, Parameters<typeof spend>[1]][])(
    "is refused with %s, without a change",
    async (_what, args, way) => {
      const confirmationToken = await mint({ key: KEY });
      const { result, broker } = await spend({ ...args, confirmationToken }, way);
      expect(readProblem(result).code).toBe("confirmation_invalid");
      expect(listChanges(broker)).toEqual([]);
    },
  );

  verifies("C-77");
  it("is refused by another tool with the same arguments", async () => {
    const broker = scriptBroker({
      "webhooks.list": () => ({ data: [{ id: "x" }] }),
      "schedules.delete": () => null,
      "webhooks.delete": () => null,
    });
    const host = await connectModern(await createOptions(broker));
    const { confirmationToken } = readConfirmation(await host.call("webhooks_delete", { id: "x" }));
    const other = await host.call("schedules_delete", { id: "x", confirmationToken });
    expect(readProblem(other).code).toBe("confirmation_invalid");
    expect(broker.seen.map(({ id }) => id)).not.toContain("schedules.delete");
    const own = await host.call("webhooks_delete", { id: "x", confirmationToken });
    expect(withoutAbout(own)).toEqual({ deleted: true, id: "x" });
  });

  it("is refused if altered or invented", async () => {
    const token = await mint();
    const altered = [0, 10, 20, token.length - 1].map(
      (at) => `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`,
    );
    for (const confirmationToken of [...altered, "yes", `${token}A`]) {
      const { result, broker } = await spend({ ...ARGS, confirmationToken });
      expect(readProblem(result).code).toBe("confirmation_invalid");
      expect(listChanges(broker)).toEqual([]);
    }
  });

  it("binds ifMatch, and accepts the arguments in any order or spelling", async () => {
    const broker = scriptBroker(UPDATE_REPLIES);
    const needs = await createOptions(broker);
    const host = await connectModern(needs);
    const sent = { disputeId: "d", status: 1, isValid: true, ifMatch: '"1"' };
    const first = await host.call("disputes_update", sent);
    const { confirmationToken } = readConfirmation(first);
    const other = { ...sent, ifMatch: '"2"', confirmationToken };
    expect(readProblem(await host.call("disputes_update", other)).code).toBe(
      "confirmation_invalid",
    );
    const same = { confirmationToken, isValid: "true", ifMatch: '"1"', status: "Closed" };
    const done = await host.call("disputes_update", { ...same, disputeId: "d" });
    expect(done.isError).not.toBe(true);
    expect(listChanges(broker)[0]?.options.ifMatch).toBe('"1"');
  });
});

describe("the replay guard in a folder", () => {
  it("removes ids that have expired", async () => {
    const folder = await replayFolder();
    let time = NOW;
    const replayGuard = createReplayFolder(folder, () => time);
    const id = "a".repeat(43);
    expect(await replayGuard.claim(id, NOW + MINUTE)).toBe(true);
    expect(await replayGuard.claim(id, NOW + MINUTE)).toBe(false);
    time = NOW + 5 * MINUTE;
    expect(await replayGuard.claim("b".repeat(43), time + MINUTE)).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("refuses an id that would leave its folder", async () => {
    const replayGuard = createReplayFolder(await replayFolder(), () => NOW);
    await expect(replayGuard.claim("../../somewhere-else", NOW)).rejects.toThrow(TypeError);
  });
});
