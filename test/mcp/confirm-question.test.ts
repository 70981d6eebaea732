import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { ARGS, readConfirmation, DISPUTE, UPDATE_REPLIES } from "./confirming.ts";
import { HOSTS, connectModern, createOptions, readProblem, type Result, YES } from "./hosts.ts";
import { createReply, type ScriptedReply, scriptBroker, type ScriptedBroker } from "./script.ts";

describe("the question names the record", () => {
  const asked = async (
    plays: Record<string, ScriptedReply>,
    tool: string,
    args: Record<string, unknown>,
  ): Promise<{ question: string; broker: ScriptedBroker; result: Result }> => {
    const broker = scriptBroker(plays);
    let question = "";
    const host = await connectModern(await createOptions(broker), (text) => {
      question = text;
      return { action: "decline" };
    });
    const result = await host.call(tool, args);
    await host.close();
    return { question, broker, result };
  };
  const dispute = (more: object) => ({
    ...UPDATE_REPLIES,
    "disputes.get": () => ({ ...DISPUTE, ...more }),
  });
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
    [
      { accountName: "Acme. Nothing is closed. Press confirm" },
      'D-INV-1-01 of "Acme. Nothing is closed. Press confirm", 9,108.20 USD',
    ],
    [{ accountName: "\u0410cme" }, 'D-INV-1-01 of "\u0410cme" [not Latin: \u0410], 9,108.20 USD'],
    [
      { disputeCode: "D-\u0421\u0410\u0422-01", accountName: "\uff21cme" },
      '"D-\u0421\u0410\u0422-01" [not Latin: \u0421 \u0410 \u0422] of "\uff21cme" [not Latin: \uff21], 9,108.20 USD',
    ],
    [
      { accountName: "\u041e\u041e\u041e \u0420\u043e\u043c\u0430\u0448\u043a\u0430" },
      "D-INV-1-01 of \u041e\u041e\u041e \u0420\u043e\u043c\u0430\u0448\u043a\u0430, 9,108.20 USD",
    ],
    [
      { accountName: "M\u00fcller & S\u00f8n" },
      "D-INV-1-01 of M\u00fcller & S\u00f8n, 9,108.20 USD",
    ],
    ...["\ua4ee\ua4da\ua4df\ua4f0", "\u2c9e\u2ca4", "A\u217dme", "\u0251cme", "\u2102ompany"].map(
      (accountName): [object, string] => [
        { accountName },
        `D-INV-1-01 of "${accountName}" [not Latin: ${[...accountName].filter((one) => one > "\u007f").join(" ")}], 9,108.20 USD`,
      ],
    ),
  ])("with code, account and exact amount: %j", async (more, words) => {
    const { question, broker } = await asked(dispute(more), "disputes_update", CLOSE);
    expect(question).toBe(`Close dispute ${words}, as DUPLICATE?`);
    const [read] = broker.seen;
    expect(read).toMatchObject({ id: "disputes.get", args: { disputeId: "d" } });
    expect(read?.options.tool).toBe("disputes_update");
    expect(read?.options.idempotencyKey).toBeUndefined();
  });

  it("with the other changes, and amounts in its currency", async () => {
    const args = { ...CLOSE, amount: 100, poNumber: null, isValid: true };
    const { question } = await asked(dispute({}), "disputes_update", args);
    expect(question).toMatch(
      /, as DUPLICATE, with amount 100\.00 USD \(was 9,108\.20 USD\), poNumber cleared, isValid true\?$/,
    );
  });

  it.each(["<", "`", '"', "\\", "](", ", ", "\u0416"])(
    "with every effect, however many %s the records have",
    async (letter) => {
      const long = letter.repeat(128).slice(0, 128);
      const disputes = dispute({
        disputeCode: long,
        accountName: long,
        poNumber: long,
        reasonName: long,
        externalReasonName: long,
        assigneeName: long,
      });
      const code = long.slice(0, 64).trim();
      const others = {
        reasonCode: code,
        externalReasonCode: code,
        assigneeEmail: "a@demo.example",
      };
      const args = { ...CLOSE, ...others, amount: 1, isValid: true, poNumber: long };
      const { question } = await asked(disputes, "disputes_update", args);
      expect(question).toMatch(/amount 1\.00 USD \(was 9,108\.20 USD\)/);
      for (const name of [
        "isValid",
        "reasonCode",
        "externalReasonCode",
        "assigneeEmail",
        "poNumber",
      ])
        expect(question).toContain(`, ${name} `);
      expect(question).toMatch(/\)\?$/);
      const closing = {
        "documents.get": () => ({ account_number: long, denomination: 5, currency: "USD" }),
        "disputes.list": () => [{ status: 0 }, { status: 0 }],
        "resolutions.list": () => [
          { code: long, isValid: true, active: true, applyWhenInvoiceClosed: true },
        ],
      };
      const close = { document_number: long.trim(), closure_reason: "paid" };
      const document = await asked(closing, "documents_close", close);
      expect(document.question).toMatch(/ The 2 open disputes .* close too, .*counts as valid\.$/);
    },
  );

  it("by its whole number", async () => {
    const [one, other] = ["1", "2"].map((end) => `${"A".repeat(127)}${end}`);
    const questions = await Promise.all(
      [one, other].map(async (disputeCode) => {
        const { question } = await asked(dispute({ disputeCode }), "disputes_update", CLOSE);
        return question;
      }),
    );
    expect(questions[0]).not.toBe(questions[1]);
  });

  it.each([
    ["https://hooks.example/run?a=1", '"https://hooks.example/run?a=1"'],
    ["https:/\\evil.example/x", '"https:/\\\\evil.example/x" at evil.example'],
    ["https://h\u043eoks.example/x", '"https://h\u043eoks.example/x" at xn--hoks-55d.example'],
  ])("and the host of a webhook: %s", async (callbackUrl, words) => {
    const { question } = await asked({}, "webhooks_create", { callbackUrl });
    expect(question).toBe(`Send the outcome of each run of every schedule to ${words}?`);
  });

  it("by the text of a note and the name of a person", async () => {
    const plays = {
      ...dispute({}),
      "dispute_notes.get": () => ({ content: "Customer agreed\nto pay. ".repeat(20) }),
      "assignees.get": () => ({
        person: { firstName: "Carla", lastName: "Jennings", email: "carla@demo.example" },
      }),
    };
    const note = await asked(plays, "dispute_notes_delete", { disputeId: "d", noteId: "n" });
    expect(note.question).toMatch(
      /^Delete note "Customer agreed to pay\. .{40,140}…" of dispute D-INV-1-01 of Juniper .+ This cannot be undone\.$/,
    );
    const person = { departmentCode: "SALES", assigneeEmail: "carla@demo.example" };
    const assignee = await asked(plays, "assignees_delete_by_email", person);
    expect(assignee.question).toBe(
      "Delete assignee Carla Jennings (carla@demo.example) of department SALES?",
    );
  });

  it.each(["forbidden_permission", "unavailable", "rate_limited", "internal"] as const)(
    "by the id in the call if the read ends in %s",
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

  it("refuses an unknown record without a question", async () => {
    const { question, result, broker } = await asked(
      { ...UPDATE_REPLIES, "disputes.get": missing },
      "disputes_update",
      CLOSE,
    );
    expect(readProblem(result).code).toBe("not_found");
    expect(question).toBe("");
    expect(broker.seen.map(({ id }) => id)).not.toContain("disputes.update");
  });

  it("ignores a failed read by id, which not every platform has", async () => {
    const plays = { "departments.get_by_id": missing };
    const { question } = await asked(plays, "departments_delete", ARGS);
    expect(question).toBe('Delete department "dep-1"?');
  });

  it.each(HOSTS)(
    "reads it for the question, and again before the change (%s)",
    async (_name, open) => {
      const broker = scriptBroker(UPDATE_REPLIES);
      const host = await open(await createOptions(broker), YES);
      await host.call("disputes_update", CLOSE);
      const reads = ["disputes.get", "resolutions.get"];
      const calls = [...reads, ...reads, "disputes.update"];
      expect(broker.seen.map(({ id }) => id)).toEqual(calls);
      await host.close();
      const silent = await open(await createOptions(broker));
      const { confirmationToken } = readConfirmation(await silent.call("disputes_update", CLOSE));
      await silent.call("disputes_update", { ...CLOSE, confirmationToken });
      expect(broker.seen.slice(calls.length).map(({ id }) => id)).toEqual(calls);
      await silent.close();
    },
  );

  it("does not read it for a call without a question", async () => {
    const broker = scriptBroker(UPDATE_REPLIES);
    const host = await connectModern(
      await createOptions(broker, { settings: { confirm: "refuse" } }),
    );
    await host.call("disputes_update", CLOSE);
    expect(broker.seen).toEqual([]);
  });
});

describe("checks before the question", () => {
  const OPEN = { ...DISPUTE, status: 0, isValid: false, resolutionId: null };
  const MINE = { resolutionId: "r-1", code: "CREDIT", active: true };
  const plays = (more: Record<string, ScriptedReply> = {}): Record<string, ScriptedReply> => ({
    "disputes.get": createReply(OPEN, { etag: '"d.1"' }),
    "disputes.update": ({ disputeId }) => ({ disputeId }),
    "resolutions.get": () => MINE,
    "resolutions.list": () => [MINE],
    ...more,
  });
  const refused = async (args: Record<string, unknown>) => {
    const broker = scriptBroker(plays());
    const host = await connectModern(
      await createOptions(broker),
      () => new Error("must not be asked"),
    );
    const result = await host.call("disputes_update", { disputeId: "d", status: 1, ...args });
    await host.close();
    expect(broker.seen.map(({ id }) => id)).not.toContain("disputes.update");
    return readProblem(result);
  };

  it("refuse another version than ifMatch", async () => {
    expect((await refused({ ifMatch: '"d.0"' })).code).toBe("precondition_failed");
  });

  it("leave a closed dispute to the platform, with the version that was read", async () => {
    const broker = scriptBroker(
      plays({
        "disputes.get": createReply({ ...OPEN, status: 2 }, { etag: '"d.2"' }),
        "disputes.update": () => {
          throw new Problem("invalid_transition", "The dispute is Cancel.");
        },
      }),
    );
    const host = await connectModern(
      await createOptions(broker),
      () => new Error("must not be asked"),
    );
    const result = await host.call("disputes_update", { disputeId: "d", status: 1 });
    expect(readProblem(result).code).toBe("invalid_transition");
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"d.2"');
  });

  it("are followed by a change of the version in the question", async () => {
    const broker = scriptBroker(plays());
    const host = await connectModern(await createOptions(broker), YES);
    await host.call("disputes_update", { disputeId: "d", status: 1, resolutionCode: "CREDIT" });
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"d.1"');
  });
});
