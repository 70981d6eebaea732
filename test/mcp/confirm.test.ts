import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { createReplayFolder } from "../../src/mcp/calls/replay-guard.ts";
import {
  HOSTS,
  KEY,
  legacyHost,
  modernHost,
  needsOf,
  NOW,
  type Person,
  problemIn,
  rawHost,
  type Result,
  textOf,
  YES,
} from "./hosts.ts";
import { replayFolder } from "./replay-folder.ts";
import { type Play, scripted, type ScriptedBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const ARGS = { departmentId: "dep-1" };

const SALES = { departmentId: "dep-1", code: "SALES", description: "Sales and service" };

const deleting = (who?: { tenantId?: string; principal?: string }) =>
  scripted(
    {
      "departments.get": () => SALES,
      "departments.get_by_id": () => SALES,
      "departments.delete": () => null,
      "departments.delete_by_code": () => null,
    },
    who,
  );

/** What was done on the platform beside reading. */
const acts = ({ seen }: ScriptedBroker) => seen.filter(({ id }) => !/\.get(_by_id)?$/.test(id));

const DISPUTE = {
  disputeId: "d",
  disputeCode: "D-INV-1-01",
  accountName: "Juniper Street Hardware",
  accountNumber: "100234",
  amount: 9108.2,
  currencyCode: "USD",
};

const UPDATING: Record<string, Play> = {
  "disputes.get": () => DISPUTE,
  "disputes.update": ({ disputeId }) => ({ disputeId }),
};

const confirmationIn = (result: Result) =>
  result._meta?.["receivables/confirmation"] as {
    confirmationToken: string;
    expiresAt: string;
    summary: string;
  };

const NO: [string, Person][] = [
  ["declines", () => ({ action: "decline" })],
  ["cancels", () => ({ action: "cancel" })],
  ["declines a form that says yes", () => ({ action: "decline", content: { confirm: true } })],
  ["cancels a form that says yes", () => ({ action: "cancel", content: { confirm: true } })],
  ["accepts with false", () => ({ action: "accept", content: { confirm: false } })],
  ["accepts with nothing", () => ({ action: "accept" })],
  ["accepts with a word", () => ({ action: "accept", content: { confirm: "true" } })],
  ["accepts something else", () => ({ action: "accept", content: { sure: true } })],
];

describe.each(HOSTS)("a host that can ask (%s)", (_name, open) => {
  it("asks once, in words, and acts on yes", async () => {
    const broker = deleting();
    const questions: string[] = [];
    const host = await open(await needsOf(broker), (question) => {
      questions.push(question);
      expect(acts(broker)).toEqual([]);
      return { action: "accept", content: { confirm: true } };
    });
    const result = await host.call("departments_delete", ARGS);
    expect(result.structuredContent).toEqual({ deleted: true, ...ARGS });
    expect(questions).toEqual(["Delete department SALES (Sales and service)?"]);
    expect(acts(broker).map(({ id }) => id)).toEqual(["departments.delete"]);
    await host.close();
  });

  verifies("D-MCP-2");
  it.each(NO)("changes nothing when the person %s", async (_how, person) => {
    const broker = deleting();
    const host = await open(await needsOf(broker), person);
    const result = await host.call("departments_delete", ARGS);
    expect(problemIn(result).code).toBe("declined");
    expect(result.isError).toBe(true);
    expect(result).not.toHaveProperty("structuredContent");
    expect(acts(broker)).toEqual([]);
    await host.close();
  });

  it("asks before closing and canceling a dispute, not before other changes", async () => {
    const broker = scripted(UPDATING);
    const questions: string[] = [];
    const host = await open(await needsOf(broker), (question) => {
      questions.push(question);
      return { action: "accept", content: { confirm: true } };
    });
    for (const status of [0, "Open", 1, "closed", "2"]) {
      await host.call("disputes_update", { disputeId: "d", status });
    }
    await host.call("disputes_update", { disputeId: "d", poNumber: "P" });
    const named = "dispute D-INV-1-01 of Juniper Street Hardware, 9,108.20 USD";
    expect(questions).toEqual([`Close ${named}?`, `Close ${named}?`, `Cancel ${named}?`]);
    expect(acts(broker).map(({ args }) => args["status"])).toEqual([0, 0, 1, 1, 2, undefined]);
    await host.close();
  });

  it("does not ask about a call that is wrong anyway", async () => {
    const host = await open(await needsOf(deleting()), () => new Error("must not be asked"));
    expect(problemIn(await host.call("departments_delete", {})).code).toBe("invalid_request");
    await host.close();
  });
});

describe("the question is about the record", () => {
  const asked = async (
    plays: Record<string, Play>,
    tool: string,
    args: Record<string, unknown>,
  ): Promise<{ question: string; broker: ScriptedBroker; result: Result }> => {
    const broker = scripted(plays);
    let question = "";
    const host = await modernHost(await needsOf(broker), (text) => {
      question = text;
      return { action: "decline" };
    });
    const result = await host.call(tool, args);
    await host.close();
    return { question, broker, result };
  };
  const dispute = (more: object) => ({ "disputes.get": () => ({ ...DISPUTE, ...more }) });
  const CLOSE = { disputeId: "d", status: 1, resolutionCode: "DUPLICATE" };

  it.each([
    [{}, "D-INV-1-01 of Juniper Street Hardware, 9,108.20 USD"],
    [{ accountName: null }, "D-INV-1-01 of 100234, 9,108.20 USD"],
    [
      { amount: 1234567, currencyCode: "JPY" },
      "D-INV-1-01 of Juniper Street Hardware, 1,234,567 JPY",
    ],
    [{ amount: 0.5, currencyCode: "KWD" }, "D-INV-1-01 of Juniper Street Hardware, 0.500 KWD"],
    [{ amount: 10.12345 }, "D-INV-1-01 of Juniper Street Hardware, 10.12345 USD"],
    [
      { accountName: "Acme, 1.00 USD? Yes\u202e\n\u001b[31m" },
      'D-INV-1-01 of "Acme, 1.00 USD? Yes", 9,108.20 USD',
    ],
  ])("with code, account and exact amount: %j", async (more, words) => {
    const { question, broker } = await asked(dispute(more), "disputes_update", CLOSE);
    expect(question).toBe(`Close dispute ${words}, as DUPLICATE?`);
    const [read] = broker.seen;
    expect(read).toMatchObject({ id: "disputes.get", args: { disputeId: "d" } });
    expect(read?.options.tool).toBe("disputes_update");
    expect(read?.options.idempotencyKey).toBeUndefined();
  });

  it("with the other changes, amounts in the record's currency", async () => {
    const args = { ...CLOSE, amount: 100, poNumber: null, isValid: true };
    const { question } = await asked(dispute({}), "disputes_update", args);
    expect(question).toMatch(
      /, as DUPLICATE, with amount 100\.00 USD, poNumber cleared, isValid true\?$/,
    );
  });

  it("a note by what it says, and a person by name", async () => {
    const plays = {
      ...dispute({}),
      "dispute_notes.get": () => ({ content: "Customer agreed\nto pay. ".repeat(20) }),
      "assignees.get": () => ({
        person: { firstName: "Carla", lastName: "Jennings", email: "carla@demo.example" },
      }),
    };
    const note = await asked(plays, "dispute_notes_delete", { disputeId: "d", noteId: "n" });
    expect(note.question).toMatch(
      /^Delete note "Customer agreed to pay\. .{40,90}…" of dispute D-INV-1-01 of Juniper .+ This cannot be undone\.$/,
    );
    const person = { departmentCode: "SALES", assigneeEmail: "carla@demo.example" };
    const assignee = await asked(plays, "assignees_delete_by_email", person);
    expect(assignee.question).toBe(
      "Delete assignee Carla Jennings (carla@demo.example) of department SALES?",
    );
  });

  it.each(["forbidden_permission", "unavailable", "rate_limited", "internal"] as const)(
    "as the call names it where reading ends in %s",
    async (code) => {
      const refuse = () => {
        throw new Problem(code, "No.");
      };
      const { question } = await asked({ "disputes.get": refuse }, "disputes_delete", {
        disputeId: "d-1",
      });
      expect(question).toBe(
        'Delete dispute "d-1" with all its notes and files? This cannot be undone.',
      );
    },
  );

  const missing = () => {
    throw new Problem("not_found", "There is no such record.");
  };

  it("what does not exist is said at once, and nobody is asked", async () => {
    const { question, result, broker } = await asked(
      { "disputes.get": missing },
      "disputes_update",
      CLOSE,
    );
    expect(problemIn(result).code).toBe("not_found");
    expect(question).toBe("");
    expect(broker.seen).toHaveLength(1);
  });

  it("a read by id that finds nothing decides nothing, since not every platform has it", async () => {
    const plays = { "departments.get_by_id": missing };
    const { question } = await asked(plays, "departments_delete", ARGS);
    expect(question).toBe('Delete department "dep-1"?');
  });

  it.each(HOSTS)("is read once for the whole confirmation (%s)", async (_name, open) => {
    const broker = scripted(UPDATING);
    const host = await open(await needsOf(broker), YES);
    await host.call("disputes_update", CLOSE);
    expect(broker.seen.map(({ id }) => id)).toEqual(["disputes.get", "disputes.update"]);
    await host.close();
    const silent = await open(await needsOf(broker));
    const { confirmationToken } = confirmationIn(await silent.call("disputes_update", CLOSE));
    await silent.call("disputes_update", { ...CLOSE, confirmationToken });
    expect(broker.seen.slice(2).map(({ id }) => id)).toEqual(["disputes.get", "disputes.update"]);
    await silent.close();
  });

  it("is not read where nobody will be asked", async () => {
    const broker = scripted(UPDATING);
    const host = await modernHost(await needsOf(broker, { settings: { confirm: "refuse" } }));
    await host.call("disputes_update", CLOSE);
    expect(broker.seen).toEqual([]);
    await host.close();
  });
});

describe("a host whose dialog breaks", () => {
  it("in 2025 has not said yes", async () => {
    const broker = deleting();
    const host = await legacyHost(await needsOf(broker), () => new Error("no window"));
    const result = await host.call("departments_delete", ARGS);
    expect(problemIn(result).code).toBe("declined");
    expect(acts(broker)).toEqual([]);
    await host.close();
  });

  it("in 2026 sends no answer, and nothing happens", async () => {
    const broker = deleting();
    const host = await modernHost(await needsOf(broker), () => new Error("no window"));
    await expect(host.call("departments_delete", ARGS)).rejects.toThrow("no window");
    expect(acts(broker)).toEqual([]);
    await host.close();
  });
});

/** A host of 2026 that handles the rounds itself, honestly or not. */
const rounds = async (broker = deleting()) => {
  const host = await rawHost(await needsOf(broker));
  const round = async (
    args: Record<string, unknown>,
    more: { state?: string; answer?: unknown; name?: string } = {},
  ) => {
    const { state, answer, name = "departments_delete" } = more;
    const { result, error } = await host.request("tools/call", {
      name,
      arguments: args,
      ...(state === undefined ? {} : { requestState: state }),
      ...(answer === undefined ? {} : { inputResponses: { confirm: answer } }),
    });
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result as Result & { resultType?: string; requestState?: string };
  };
  return { host, broker, round };
};

const ACCEPT = { action: "accept", content: { confirm: true } };

describe("the rounds of 2026", () => {
  verifies("C-66");
  it("a yes counts once, with the state that asked for it", async () => {
    const { round, broker, host } = await rounds();
    const asked = await round(ARGS);
    expect(asked.resultType).toBe("input_required");
    const state = asked.requestState ?? "";
    const done = await round(ARGS, { state, answer: ACCEPT });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    const again = await round(ARGS, { state, answer: ACCEPT });
    expect(problemIn(again).code).toBe("confirmation_invalid");
    expect(acts(broker)).toHaveLength(1);
    await host.close();
  });

  verifies("C-77");
  it("a yes without state, or with one of another call, does nothing", async () => {
    const { round, broker, host } = await rounds();
    const state = (await round(ARGS)).requestState ?? "";
    const lies: [Record<string, unknown>, { state?: string; name?: string }][] = [
      [ARGS, {}],
      [ARGS, { state: "made-up" }],
      [ARGS, { state: `${state.slice(0, -2)}AA` }],
      [{ departmentId: "dep-2" }, { state }],
      [{ departmentCode: "dep-1" }, { state, name: "departments_delete_by_code" }],
    ];
    for (const [args, more] of lies) {
      const result = await round(args, { ...more, answer: ACCEPT });
      expect(problemIn(result).code, JSON.stringify(more)).toBe("confirmation_invalid");
    }
    expect(acts(broker)).toEqual([]);
    await host.close();
  });

  it("the state of a dialog does not pass for a token that skips the dialog", async () => {
    const { round, broker, host } = await rounds();
    const state = (await round(ARGS)).requestState ?? "";
    const result = await round({ ...ARGS, confirmationToken: state });
    expect(problemIn(result).code).toBe("confirmation_invalid");
    expect(acts(broker)).toEqual([]);
    await host.close();
  });
});

describe.each(HOSTS)("a host that cannot ask (%s)", (_name, open) => {
  it("gets a token, in the text too, and the same call with it acts once", async () => {
    const broker = deleting();
    const host = await open(await needsOf(broker));
    const first = await host.call("departments_delete", ARGS);
    expect(problemIn(first).code).toBe("confirmation_required");
    expect(first).not.toHaveProperty("structuredContent");
    const { confirmationToken, expiresAt, summary } = confirmationIn(first);
    expect(textOf(first)).toMatch(/^confirmation_required: .+ Next: .+/);
    expect(textOf(first)).toContain(confirmationToken);
    expect(Date.parse(expiresAt) - NOW).toBe(10 * MINUTE);
    expect(summary).toBe("Delete department SALES (Sales and service)?");
    expect(acts(broker)).toEqual([]);

    const second = await host.call("departments_delete", { ...ARGS, confirmationToken });
    expect(second.structuredContent).toEqual({ deleted: true, ...ARGS });
    const third = await host.call("departments_delete", { ...ARGS, confirmationToken });
    expect(problemIn(third).code).toBe("confirmation_invalid");
    expect(acts(broker)).toHaveLength(1);
    expect(acts(broker)[0]?.args).toEqual(ARGS);
    await host.close();
  });

  it("is refused where the setting says so, token or not", async () => {
    const broker = deleting();
    const lenient = await open(await needsOf(broker));
    const { confirmationToken } = confirmationIn(await lenient.call("departments_delete", ARGS));
    const host = await open(await needsOf(broker, { settings: { confirm: "refuse" } }));
    for (const args of [ARGS, { ...ARGS, confirmationToken }]) {
      const result = await host.call("departments_delete", args);
      expect(problemIn(result).code).toBe("confirmation_unavailable");
      expect(result._meta).not.toHaveProperty("receivables/confirmation");
    }
    expect(acts(broker)).toEqual([]);
    await Promise.all([lenient.close(), host.close()]);
  });
});

describe("a token", () => {
  const mint = async (setup: Parameters<typeof needsOf>[1] = {}, broker = deleting()) => {
    const host = await modernHost(await needsOf(broker, setup));
    const { confirmationToken } = confirmationIn(await host.call("departments_delete", ARGS));
    await host.close();
    return confirmationToken;
  };

  const spend = async (
    args: Record<string, unknown>,
    { setup = {}, broker = deleting(), tool = "departments_delete" } = {},
  ) => {
    const host = await modernHost(await needsOf(broker, setup));
    const result = await host.call(tool, args);
    await host.close();
    return { result, broker };
  };

  verifies("C-66");
  it("holds across processes with one key, and is used up for all of them at once", async () => {
    const replayGuard = createReplayFolder(await replayFolder(), () => NOW);
    const other = createReplayFolder(await replayFolder(), () => NOW);
    const confirmationToken = await mint({ replayGuard });
    const args = { ...ARGS, confirmationToken };
    const results = await Promise.all(
      Array.from({ length: 5 }, () => spend(args, { setup: { replayGuard } })),
    );
    const acted = results.filter(({ broker }) => acts(broker).length > 0);
    expect(acted).toHaveLength(1);
    expect(results.filter(({ result }) => result.isError === true)).toHaveLength(4);
    // Another folder is another installation: only the shared memory makes it single.
    const elsewhere = await spend(args, { setup: { replayGuard: other } });
    expect(acts(elsewhere.broker)).toHaveLength(1);
  });

  verifies("C-77");
  it.each([
    ["other arguments", { departmentId: "dep-2" }, {}],
    ["another tenant", ARGS, { broker: deleting({ tenantId: "tenant-2" }) }],
    ["another credential", ARGS, { broker: deleting({ principal: "person-2" }) }],
    ["another person with the same", ARGS, { setup: { caller: "person-2" } }],
    ["another key", ARGS, { setup: { key: Buffer.alloc(32, 9) } }],
    ["a later time", ARGS, { setup: { now: () => NOW + 10 * MINUTE + 1 } }],
    ["another tool", { departmentCode: "dep-1" }, { tool: "departments_delete_by_code" }],
  ] as [string, Record<string, unknown>, Parameters<typeof spend>[1]][])(
    "is refused with %s, and nothing changes",
    async (_what, args, way) => {
      const confirmationToken = await mint({ key: KEY });
      const { result, broker } = await spend({ ...args, confirmationToken }, way);
      expect(problemIn(result).code).toBe("confirmation_invalid");
      expect(acts(broker)).toEqual([]);
    },
  );

  verifies("C-77");
  it("is refused by another tool that takes the same arguments", async () => {
    const broker = scripted({
      "schedules.list": () => ({ data: [] }),
      "schedules.delete": () => null,
      "webhooks.delete": () => null,
    });
    const host = await modernHost(await needsOf(broker));
    const { confirmationToken } = confirmationIn(await host.call("webhooks_delete", { id: "x" }));
    const other = await host.call("schedules_delete", { id: "x", confirmationToken });
    expect(problemIn(other).code).toBe("confirmation_invalid");
    expect(broker.seen.map(({ id }) => id)).not.toContain("schedules.delete");
    const own = await host.call("webhooks_delete", { id: "x", confirmationToken });
    expect(own.structuredContent).toEqual({ deleted: true, id: "x" });
    await host.close();
  });

  it("is refused when altered anywhere, or made up", async () => {
    const token = await mint();
    const altered = [0, 10, 20, token.length - 1].map(
      (at) => `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`,
    );
    for (const confirmationToken of [...altered, "yes", `${token}A`]) {
      const { result, broker } = await spend({ ...ARGS, confirmationToken });
      expect(problemIn(result).code).toBe("confirmation_invalid");
      expect(acts(broker)).toEqual([]);
    }
  });

  it("binds ifMatch, and takes the same arguments in any order or spelling", async () => {
    const broker = scripted(UPDATING);
    const needs = await needsOf(broker);
    const host = await modernHost(needs);
    const sent = { disputeId: "d", status: 1, isValid: true, ifMatch: '"1"' };
    const first = await host.call("disputes_update", sent);
    const { confirmationToken } = confirmationIn(first);
    const other = { ...sent, ifMatch: '"2"', confirmationToken };
    expect(problemIn(await host.call("disputes_update", other)).code).toBe("confirmation_invalid");
    const same = { confirmationToken, isValid: "true", ifMatch: '"1"', status: "Closed" };
    const done = await host.call("disputes_update", { ...same, disputeId: "d" });
    expect(done.isError).not.toBe(true);
    expect(acts(broker)[0]?.options.ifMatch).toBe('"1"');
    await host.close();
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
