import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import type { Approvals, Decision, PageQuestion } from "../../src/mcp/tools/asking/approvals.ts";
import { ASKED_HOSTS, type AskedHost } from "./asked-hosts.ts";
import { ARGS, createDeletion, listChanges, readConfirmation } from "./confirming.ts";
import { createOptions, NOW, readProblem, readText, type Setup } from "./hosts.ts";
import { verifies } from "../support/verifies.ts";

const TOOL = "departments_delete";
const addressOf = (id: string): string => `https://mcp.example/oauth/account/approve/${id}`;

/** Pages whose person decides when a test says so; test/oauth/approvals.test.ts has the real ones. */
const createPages = (isSignedIn = true) => {
  const asked: PageQuestion[] = [];
  const decisions = new Map<string, Decision>();
  const approvals: Approvals = {
    async open(question) {
      asked.push(question);
      return isSignedIn ? addressOf(question.id) : undefined;
    },
    decisionOf: async (id) => decisions.get(id),
  };
  return {
    asked,
    approvals,
    decide: (decision: Decision, at = 0) => decisions.set(asked[at]?.id ?? "", decision),
  };
};

describe.each(ASKED_HOSTS)("a host without forms and views (%s)", (_door, mode, connect) => {
  const open = async (setup: Setup = {}, { isSignedIn = true, ...more } = {}) => {
    const broker = createDeletion();
    const pages = createPages(isSignedIn);
    const options = await createOptions(broker, { approvals: pages.approvals, ...setup });
    const host = await connect(options, { mode, ...(more as Partial<AskedHost>) });
    return { broker, pages, host, call: (args = {}) => host.call(TOOL, { ...ARGS, ...args }) };
  };

  verifies("WK-13", "WK-10");
  it("names the page, and its token is good after the approval, once", async () => {
    const { broker, pages, call } = await open();
    const asked = await call();
    expect(readProblem(asked).code).toBe("confirmation_required");
    const { confirmationToken, summary, ...more } = readConfirmation(asked);
    const page = addressOf(pages.asked[0]?.id ?? "");
    expect(more).toEqual({ expiresAt: new Date(NOW + 10 * MINUTE).toISOString(), page });
    expect(pages.asked).toMatchObject([{ question: summary, expiresAt: NOW + 10 * MINUTE }]);
    expect(readText(asked)).toContain(page);
    expect(readText(asked)).toContain(confirmationToken);

    const early = await call({ confirmationToken });
    expect(readProblem(early)).toMatchObject({
      code: "confirmation_required",
      message: expect.stringMatching(/^The person has not approved this yet: Delete department/),
    });
    expect(readConfirmation(early)).toMatchObject({ confirmationToken, page });
    expect(listChanges(broker)).toEqual([]);

    pages.decide("approved");
    const done = await call({ confirmationToken });
    expect(done.structuredContent).toMatchObject({ deleted: true });
    expect(readProblem(await call({ confirmationToken })).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toMatchObject([{ options: { confirmedBy: "page" } }]);
    expect(pages.asked).toHaveLength(1);
  });

  verifies("WK-13");
  it("is declined after a no", async () => {
    const { broker, pages, call } = await open();
    const { confirmationToken } = readConfirmation(await call());
    pages.decide("declined");
    expect(readProblem(await call({ confirmationToken })).code).toBe("declined");
    expect(listChanges(broker)).toEqual([]);
  });

  verifies("WK-13", "C-77");
  it("finds the token refused for other arguments, and after ten minutes", async () => {
    let time = NOW;
    const { broker, pages, call } = await open({ now: () => time });
    const { confirmationToken } = readConfirmation(await call());
    pages.decide("approved");
    const other = await call({ departmentId: "dep-2", confirmationToken });
    expect(readProblem(other).code).toBe("confirmation_invalid");
    time += 10 * MINUTE + 1;
    expect(readProblem(await call({ confirmationToken })).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toEqual([]);
  });

  verifies("WK-10");
  it("asks on the page also with RECEIVABLES_CONFIRM=refuse", async () => {
    const { pages, call } = await open({ settings: { confirm: "refuse" } });
    const { confirmationToken } = readConfirmation(await call());
    pages.decide("approved");
    expect((await call({ confirmationToken })).structuredContent).toMatchObject({ deleted: true });
  });

  verifies("WK-10");
  it("does what the setting says where no browser is signed in", async () => {
    const signedOut = { isSignedIn: false };
    const lenient = await open({}, signedOut);
    const confirmation = readConfirmation(await lenient.call());
    expect(confirmation).not.toHaveProperty("page");
    const { confirmationToken } = confirmation;
    expect((await lenient.call({ confirmationToken })).isError).not.toBe(true);
    const strict = await open({ settings: { confirm: "refuse" } }, signedOut);
    expect(readProblem(await strict.call()).code).toBe("confirmation_unavailable");
    await Promise.all([lenient.host.close(), strict.host.close()]);
  });

  verifies("WK-10", "WK-11");
  it("is asked on the page after a form that was declined at once, and not before a view", async () => {
    const person = () => ({ action: "decline" as const });
    const form = await open({}, { person } as object);
    expect(readConfirmation(await form.call())).toHaveProperty("page");
    const both = await open({}, { person, showsViews: true } as object);
    expect((await both.call()).structuredContent).toHaveProperty("waiting");
    expect(both.pages.asked).toEqual([]);
    await Promise.all([form.host.close(), both.host.close()]);
  });
});
