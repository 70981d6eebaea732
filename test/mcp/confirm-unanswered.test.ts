import { describe, expect, it } from "vitest";
import { SECOND } from "../../src/kit/clock.ts";
import type { Settings } from "../../src/config/settings.ts";
import { createHttpServer } from "../../src/mcp/http/http-server.ts";
import { ASKED_HOSTS, type AskedHost, openSession } from "./asked-hosts.ts";
import { ARGS, createDeletion, listChanges, readConfirmation } from "./confirming.ts";
import { createOptions, NOW, type Person, readProblem, readText, YES } from "./hosts.ts";
import { trustingGate } from "./trusting-gate.ts";
import { verifies } from "../support/verifies.ts";

const TOOL = "departments_delete";

verifies("WK-11");
describe.each(ASKED_HOSTS)("a host that declines at once (%s)", (_door, mode, connect) => {
  /** A server whose clock moves on while the person reads, and the questions that were asked with forms. */
  const open = async (
    reply: Awaited<ReturnType<Person>>,
    readsMs: number,
    more: Partial<AskedHost> = {},
    settings: Partial<Settings> = {},
  ) => {
    let time = NOW;
    const questions: string[] = [];
    const broker = createDeletion();
    const options = await createOptions(broker, { now: () => time, settings });
    const person: Person = (question) => {
      questions.push(question);
      time += readsMs;
      return reply;
    };
    const host = await connect(options, { mode, person, ...more });
    return { host, broker, questions };
  };

  it.each([
    ["declined", { action: "decline" }],
    ["canceled", { action: "cancel" }],
  ] as const)("is shown the view in its place, in the whole session (%s)", async (_how, reply) => {
    const { host, broker, questions } = await open(reply, SECOND, { showsViews: true });
    for (const _time of [1, 2]) {
      const result = await host.call(TOOL, ARGS);
      expect(result.isError).not.toBe(true);
      expect(result.structuredContent).toMatchObject({ waiting: { question: questions[0] } });
    }
    expect(questions).toHaveLength(1);
    expect(listChanges(broker)).toEqual([]);
  });

  it("is refused without another way, gets no token, and is asked again later", async () => {
    const { host, broker, questions } = await open({ action: "decline" }, SECOND);
    for (const _time of [1, 2]) {
      const result = await host.call(TOOL, ARGS);
      expect(readProblem(result)).toMatchObject({
        code: "declined",
        nextStep: "Do not repeat it; ask the person in words what they want instead.",
      });
      expect(readText(result)).toContain("RECEIVABLES_CONFIRM_FORMS=off");
      expect(result._meta).not.toHaveProperty("receivables/confirmation");
    }
    expect(questions).toHaveLength(2);
    expect(listChanges(broker)).toEqual([]);
  });

  it("is taken at its word after more than a second, and asked again", async () => {
    const { host, questions } = await open({ action: "decline" }, SECOND + 1, { showsViews: true });
    for (const _time of [1, 2]) {
      const result = await host.call(TOOL, ARGS);
      expect(readProblem(result).code).toBe("declined");
      expect(result._meta).not.toHaveProperty("receivables/ticket");
    }
    expect(questions).toHaveLength(2);
  });

  it("is believed when the person says yes at once", async () => {
    const { host, broker } = await open(await YES(""), 0);
    expect((await host.call(TOOL, ARGS)).structuredContent).toMatchObject({ deleted: true });
    expect(listChanges(broker)[0]?.options.confirmedBy).toBe("form");
  });

  it("is asked with no form where the settings say so", async () => {
    const off = { confirmForms: false };
    const { host, broker, questions } = await open({ action: "decline" }, 0, {}, off);
    const { confirmationToken } = readConfirmation(await host.call(TOOL, ARGS));
    const done = await host.call(TOOL, { ...ARGS, confirmationToken });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    expect(questions).toEqual([]);
    expect(listChanges(broker)[0]?.options.confirmedBy).toBe("token");
  });
});

describe("two sessions with one server", () => {
  verifies("WK-11");
  it("learn by themselves whether their hosts show forms (2025)", async () => {
    const broker = createDeletion();
    const http = createHttpServer(await createOptions(broker), { gate: trustingGate });
    const questions: string[] = [];
    const person: Person = (question) => {
      questions.push(question);
      return { action: "decline" };
    };
    for (const asked of [1, 2]) {
      const host = await openSession(http, { mode: "legacy", person, showsViews: true });
      await host.call(TOOL, ARGS);
      await host.call(TOOL, ARGS);
      expect(questions).toHaveLength(asked);
      await host.close();
    }
    await http.close();
  });
});
