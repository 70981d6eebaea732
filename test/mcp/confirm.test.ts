import { describe, expect, it } from "vitest";
import { listChanges, ARGS, createDeletion, UPDATE_REPLIES } from "./confirming.ts";
import {
  HOSTS,
  connectLegacy,
  connectModern,
  createOptions,
  type Person,
  readProblem,
  connectRaw,
  type Result,
  withoutAbout,
} from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { alterToken } from "../support/alter-token.ts";
import { verifies } from "../support/verifies.ts";

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
  it("asks once, and acts on yes", async () => {
    const broker = createDeletion();
    const questions: string[] = [];
    const host = await open(await createOptions(broker), (question) => {
      questions.push(question);
      expect(listChanges(broker)).toEqual([]);
      return { action: "accept", content: { confirm: true } };
    });
    const result = await host.call("departments_delete", ARGS);
    expect(withoutAbout(result)).toEqual({ deleted: true, ...ARGS });
    expect(questions).toEqual(["Delete department SALES (Sales and service)?"]);
    expect(listChanges(broker).map(({ id }) => id)).toEqual(["departments.delete"]);
  });

  verifies("D-MCP-2");
  it.each(NO)("changes nothing when the person %s", async (_how, person) => {
    const broker = createDeletion();
    const host = await open(await createOptions(broker), person);
    const result = await host.call("departments_delete", ARGS);
    expect(readProblem(result).code).toBe("declined");
    expect(result.isError).toBe(true);
    expect(result).not.toHaveProperty("structuredContent");
    expect(listChanges(broker)).toEqual([]);
  });

  it("asks before it closes or cancels a dispute, not before other changes", async () => {
    const broker = scriptBroker(UPDATE_REPLIES);
    const questions: string[] = [];
    const host = await open(await createOptions(broker), (question) => {
      questions.push(question);
      return { action: "accept", content: { confirm: true } };
    });
    for (const status of [0, "Open", 1, "closed", "2"]) {
      await host.call("disputes_update", { disputeId: "d", status });
    }
    await host.call("disputes_update", { disputeId: "d", poNumber: "P" });
    const named = "dispute D-INV-1-01 of Juniper Street Hardware, 9,108.20 USD";
    const counts = "without a resolution: it will count as not valid";
    expect(questions).toEqual([
      `Close ${named}, ${counts}?`,
      `Close ${named}, ${counts}?`,
      `Cancel ${named}?`,
    ]);
    expect(listChanges(broker).map(({ args }) => args["status"])).toEqual([
      0,
      0,
      1,
      1,
      2,
      undefined,
    ]);
  });

  it("does not ask about an invalid call", async () => {
    const host = await open(
      await createOptions(createDeletion()),
      () => new Error("must not be asked"),
    );
    expect(readProblem(await host.call("departments_delete", {})).code).toBe("invalid_request");
  });
});

describe("a host whose dialog fails", () => {
  it("has not confirmed (2025)", async () => {
    const broker = createDeletion();
    const host = await connectLegacy(await createOptions(broker), () => new Error("no window"));
    const result = await host.call("departments_delete", ARGS);
    expect(readProblem(result).code).toBe("declined");
    expect(listChanges(broker)).toEqual([]);
  });

  it("has not confirmed (2026)", async () => {
    const broker = createDeletion();
    const host = await connectModern(await createOptions(broker), () => new Error("no window"));
    await expect(host.call("departments_delete", ARGS)).rejects.toThrow("no window");
    expect(listChanges(broker)).toEqual([]);
  });
});

/** A host of 2026 that repeats calls itself, with valid or invalid states. */
const rounds = async (broker = createDeletion()) => {
  const host = await connectRaw(await createOptions(broker));
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

describe("confirmation in the protocol of 2026", () => {
  verifies("C-66");
  it("accepts a yes once, with the state of its question", async () => {
    const { round, broker } = await rounds();
    const asked = await round(ARGS);
    expect(asked.resultType).toBe("input_required");
    const state = asked.requestState ?? "";
    const done = await round(ARGS, { state, answer: ACCEPT });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    const again = await round(ARGS, { state, answer: ACCEPT });
    expect(readProblem(again).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toHaveLength(1);
  });

  verifies("C-77");
  it("refuses a yes without a state, or with the state of another call", async () => {
    const { round, broker } = await rounds();
    const state = (await round(ARGS)).requestState ?? "";
    const lies: [Record<string, unknown>, { state?: string; name?: string }][] = [
      [ARGS, {}],
      [ARGS, { state: "made-up" }],
      [ARGS, { state: alterToken(state) }],
      [{ departmentId: "dep-2" }, { state }],
      [{ departmentCode: "dep-1" }, { state, name: "departments_delete_by_code" }],
    ];
    for (const [args, more] of lies) {
      const result = await round(args, { ...more, answer: ACCEPT });
      expect(readProblem(result).code, JSON.stringify(more)).toBe("confirmation_invalid");
    }
    expect(listChanges(broker)).toEqual([]);
  });

  it("does not accept the state of a question as a confirmation token", async () => {
    const { round, broker } = await rounds();
    const state = (await round(ARGS)).requestState ?? "";
    const result = await round({ ...ARGS, confirmationToken: state });
    expect(readProblem(result).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toEqual([]);
  });
});
