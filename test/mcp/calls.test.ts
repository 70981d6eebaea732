import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import {
  connectScripted,
  HOSTS,
  createLineLog,
  createOptions,
  readProblem,
  readText,
  YES,
  withoutAbout,
} from "./hosts.ts";
import { dispute } from "./records.ts";
import { createReply, type ScriptedReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const echo: ScriptedReply = (args) => args;

describe("arguments", () => {
  const PLAYS = {
    "disputes.update": echo,
    "disputes.create": echo,
    "disputes.list_by_ids": () => [],
    "disputes.list": () => [],
    "assignees.create": echo,
    "dispute_notes.list": () => [],
  };

  it.each([
    [
      "a number as text",
      "disputes_create",
      { accountNumber: "A", documentNumber: "D", reasonId: "r", poNumber: "7", amount: "12.5" },
      { amount: 12.5 },
    ],
    [
      "a boolean as text",
      "disputes_update",
      { disputeId: "d", isValid: "false" },
      { isValid: false },
    ],
    ["an integer as text", "disputes_update", { disputeId: "d", status: "0" }, { status: 0 }],
    [
      "a list as text",
      "disputes_list_by_ids",
      { disputeIds: '["a","b"]' },
      { disputeIds: ["a", "b"] },
    ],
    ["one item for a list", "disputes_list_by_ids", { disputeIds: "a" }, { disputeIds: ["a"] }],
    ["one number for a list", "disputes_list", { Status: 0 }, { Status: [0] }],
    ["a list of texts", "disputes_list", { Status: ["0", "1"] }, { Status: [0, 1] }],
    ["a number as text for a list", "disputes_list", { Status: "2" }, { Status: [2] }],
    [
      "an object as text",
      "assignees_create",
      { departmentCode: "S", person: '{"firstName":"A","address":"{\\"city\\":\\"X\\"}"}' },
      { person: { firstName: "A", address: { city: "X" } } },
    ],
    [
      "a text that looks like JSON",
      "disputes_update",
      { disputeId: "[1]", poNumber: "7" },
      { disputeId: "[1]", poNumber: "7" },
    ],
    [
      "null where it clears",
      "disputes_update",
      { disputeId: "d", poNumber: null },
      { poNumber: null },
    ],
    [
      "a time zone",
      "assignees_create",
      { departmentCode: "S", person: { timeZone: "UTC" } },
      { person: { timeZone: "UTC" } },
    ],
  ] as [string, string, Record<string, unknown>, Record<string, unknown>][])(
    "%s is understood",
    async (_what, tool, args, sent) => {
      const { host, broker } = await connectScripted(PLAYS);
      const result = await host.call(tool, args);
      expect(readText(result)).not.toContain("invalid");
      expect(broker.seen[0]?.args).toMatchObject(sent);
    },
  );

  it.each([
    ["disputes_list", { status: 0, Status: 1 }, "Status is sent in two spellings"],
    ["disputes_list", { Stauts: 0 }, "Stauts is not an argument; did you mean Status?"],
    ["disputes_list", { account_numbr: "A" }, "did you mean AccountNumber?"],
    ["disputes_list", { zzz: 1 }, "zzz is not an argument; known: ReasonName, DepartmentName"],
    ["disputes_list", { tenantId: "t" }, "tenantId comes from the server's configuration"],
    ["auth_login", { password: "p" }, "password comes from the server's configuration"],
    ["disputes_get", {}, "disputeId is required"],
    ["disputes_get", { disputeId: "" }, "disputeId must not be empty"],
    ["disputes_get", { disputeId: 5 }, 'disputeId must be a string, such as "5"'],
    ["disputes_list", { Status: "opened" }, "Status[0] must be one of 0 (Open), 1 (Closed)"],
    ["disputes_list", { PageSize: 1001 }, "PageSize must be at most 1000"],
    ["disputes_list", { Page: 0 }, "Page must be at least 1"],
    ["disputes_list", { Sort: "Colour" }, "Sort must name only"],
    ["disputes_create", { amount: "much" }, "amount must be a number"],
    [
      "disputes_create",
      { amount: 0, accountNumber: "A", documentNumber: "D", reasonId: "r" },
      "amount must be greater than 0",
    ],
    [
      "disputes_create",
      { amount: 1, accountNumber: "A", documentNumber: "D" },
      "reasonId is required unless one of",
    ],
    ["disputes_create", { idempotencyKey: "" }, "idempotencyKey must have 1 to 255"],
    ["disputes_update", { disputeId: "d", ifMatch: "a\nb" }, "ifMatch must have 1 to 255"],
    ["disputes_get", { disputeId: "d", ifMatch: "x" }, "ifMatch is not an argument"],
    [
      "assignees_create",
      { departmentId: "d", person: { adress: {} } },
      "person.adress is not an argument; did you mean address?",
    ],
    ["assignees_create", { departmentId: "d", person: "no JSON" }, "person must be an object"],
    [
      "dispute_notes_create",
      { disputeId: "d", content: "x".repeat(10_001) },
      "content must have at most 10000",
    ],
    [
      "disputes_list",
      JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}'),
      "constructor is not an argument",
    ],
  ] as [string, Record<string, unknown>, string][])(
    "%s %j is refused by name",
    async (tool, args, words) => {
      const { host, broker } = await connectScripted({});
      const result = await host.call(tool, args);
      expect(result.isError).toBe(true);
      expect(readProblem(result)).toMatchObject({ code: "invalid_request", status: 400 });
      expect(readProblem(result).fields).not.toHaveLength(0);
      expect(readText(result)).toContain(words);
      expect(readText(result)).toMatch(/^invalid_request: .+ Next: .+/);
      expect(broker.seen).toEqual([]);
    },
  );

  it("all faults are reported together", async () => {
    const { host } = await connectScripted({});
    const result = await host.call("disputes_create", { amount: "x", colour: 1, accountNumber: 5 });
    const fields = readProblem(result).fields?.map(({ field }) => field);
    expect(fields).toEqual(["colour", "amount", "accountNumber", "documentNumber"]);
  });
});

describe("an unknown tool", () => {
  it.each(HOSTS)("is a protocol error with a suggestion (%s)", async (_name, open) => {
    const host = await open(
      await createOptions(scriptBroker({}), { settings: { readOnly: true } }),
    );
    const wrong = host.call("dispute_list", {});
    await expect(wrong).rejects.toThrow(/Unknown tool: "dispute_list"; did you mean disputes_list/);
    await expect(host.call("disputes_delete", {})).rejects.toThrow(/Unknown tool/);
  });
});

describe("requests to the platform", () => {
  verifies("C-82");
  it("contain the tool's name, and are aborted with the call", async () => {
    const { host, broker } = await connectScripted({
      "departments.get": () => ({ departmentId: "d" }),
    });
    await host.call("departments_get", { departmentCode: "A" });
    expect(broker.seen[0]?.options.tool).toBe("departments_get");
    expect(broker.seen[0]?.options.signal).toBeInstanceOf(AbortSignal);
  });

  verifies("C-87");
  it.each([
    ["a record", "departments_get", { departmentCode: "A" }],
    ["a list", "disputes_list", {}],
    ["an insight", "disputes_summary", { groupBy: ["status"] }],
  ])("for %s are aborted when the host disconnects", async (_what, tool, args) => {
    let seen: AbortSignal | undefined;
    const wait: ScriptedReply = (_args, { signal }) => {
      seen = signal;
      return new Promise(() => {});
    };
    const ids = ["departments.get", "disputes.list", "disputes.summary"];
    const { host } = await connectScripted(Object.fromEntries(ids.map((id) => [id, wait])));
    const call = host.call(tool, args).catch(() => {});
    await expect.poll(() => seen).toBeDefined();
    await host.close();
    await expect.poll(() => seen?.aborted).toBe(true);
    await call;
  });

  verifies("C-76");
  it("contain a new idempotency key for a create without one", async () => {
    const { host, broker } = await connectScripted({
      "disputes.create": echo,
      "departments.update": echo,
    });
    const args = { amount: 1, accountNumber: "A", documentNumber: "D", reasonCode: "R" };
    await host.call("disputes_create", args);
    await host.call("disputes_create", args);
    await host.call("disputes_create", { ...args, idempotencyKey: "mine" });
    await host.call("departments_update", { departmentId: "d" });
    const changes = broker.seen.filter(({ id }) => /create|update/.test(id));
    const [first, second, own, none] = changes.map(({ options }) => options.idempotencyKey);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
    expect([own, none]).toEqual(["mine", undefined]);
    expect(changes[2]?.args).toEqual(args);
  });

  it("contain ifMatch, and the result contains the ETag", async () => {
    const { host, broker } = await connectScripted({
      "departments.update": createReply({ departmentId: "d" }, { etag: '"v2"' }),
    });
    const result = await host.call("departments_update", { departmentId: "d", ifMatch: '"v1"' });
    expect(broker.seen[0]?.options.ifMatch).toBe('"v1"');
    expect(result._meta?.["receivables/etag"]).toBe('"v2"');
  });

  verifies("D-GEN-6");
  it("have the ignored fields named in the result", async () => {
    const { host } = await connectScripted({
      "departments.update": createReply(
        { departmentId: "d" },
        { ignoredFields: ["colour", "a.b"] },
      ),
    });
    const result = await host.call("departments_update", { departmentId: "d" });
    expect(readText(result)).toContain("The platform ignored: colour, a.b.");
  });
});

describe.each(HOSTS)("results (%s)", (_name, open) => {
  verifies("C-80");
  it("are the platform's record, or a sentence if there is none", async () => {
    const row = dispute(1, { closedDate: null });
    const broker = scriptBroker({
      "disputes.get": () => row,
      "dispute_notes.get": () => ({ disputeNoteId: "n", content: "Sent twice." }),
      "dispute_notes.delete": () => null,
    });
    const host = await open(await createOptions(broker), YES);
    const read = await host.call("disputes_get", { disputeId: row.disputeId });
    expect(withoutAbout(read)).toEqual({ ...row, status: "Open" });
    const ids = { disputeId: "d", noteId: "n" };
    const gone = await host.call("dispute_notes_delete", ids);
    expect(withoutAbout(gone)).toEqual({ deleted: true, ...ids });
  });

  it("accept unknown values of enumerations", async () => {
    const broker = scriptBroker({
      "disputes.get": () => ({ ...dispute(1), status: 7, originSystem: "new", isNew: { a: [] } }),
    });
    const host = await open(await createOptions(broker));
    const result = await host.call("disputes_get", { disputeId: "d" });
    expect(result.structuredContent).toMatchObject({ status: "7", isNew: { a: [] } });
  });
});

verifies("C-78");
describe.each(HOSTS)("refusals (%s)", (_name, open) => {
  it("contain code, reason and next step, as text and as data", async () => {
    const details = {
      errors: [{ field: "person.email", code: "format", message: "must be an e-mail address" }],
      requestId: "request-7",
    };
    const broker = scriptBroker({
      "departments.get": () => {
        throw new Problem("invalid_request", "The request is not valid.", details);
      },
      "departments.list": () => {
        throw new Problem("rate_limited", "Too many requests.", { retryAfterSeconds: 1 });
      },
      "departments.update": () => {
        throw new Problem("forbidden_permission", "Not permitted.");
      },
    });
    const host = await open(await createOptions(broker));
    const invalid = await host.call("departments_get", { departmentCode: "A" });
    expect(invalid).not.toHaveProperty("structuredContent");
    expect(invalid.isError).toBe(true);
    expect(readProblem(invalid)).toEqual({
      code: "invalid_request",
      message: "The request is not valid: person.email must be an e-mail address.",
      nextStep: "Correct what is named and call again.",
      status: 400,
      fields: details.errors,
      requestId: "request-7",
    });
    const { code, message, nextStep } = readProblem(invalid);
    expect(readText(invalid)).toBe(`${code}: ${message} Next: ${nextStep}`);

    const limited = readProblem(await host.call("departments_list"));
    expect(limited).toMatchObject({ code: "rate_limited", status: 429, retryAfterSeconds: 1 });
    expect(limited.nextStep).toContain("1 second");
    const forbidden = await host.call("departments_update", { departmentId: "d" });
    expect(readText(forbidden)).toContain('"Dispute Configuration : UPDATE"');
  });

  it("an internal error is logged and its text is not shown", async () => {
    const { lines, log } = createLineLog();
    const broker = scriptBroker({
      "departments.get": () => {
        throw new TypeError("SELECT secret FROM /home/somebody/keys");
      },
    });
    const host = await open(await createOptions(broker, { log }));
    const result = await host.call("departments_get", { departmentCode: "A" });
    const problem = readProblem(result);
    expect(problem).toMatchObject({ code: "internal", status: 500 });
    expect(JSON.stringify(result)).not.toMatch(/SELECT|somebody/);
    const line = lines.find((text) => text.includes('"tool.failed"'));
    expect(line).toContain("SELECT");
    expect(line).toContain(problem.requestId);
  });
});

describe("refusals from outside", () => {
  it("are sanitized and truncated", async () => {
    const message = `${"\u001b[31mred \u202e".repeat(3)}${"long ".repeat(1000)}`;
    const errors = Array.from({ length: 60 }, (_, index) => ({
      field: `f${index}\u200b${"x".repeat(500)}`,
      code: "format",
      message: "![a](http://evil.example)".repeat(50),
    }));
    const { host } = await connectScripted({
      "departments.get": () => {
        throw new Problem("conflict", message, { errors });
      },
    });
    const result = await host.call("departments_get", { departmentCode: "A" });
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(readText(result)).not.toMatch(/[\u001b\u202e\u200b]|!\[/);
    expect(readProblem(result).fields).toHaveLength(20);
    expect(readText(result).length).toBeLessThan(8000);
  });
});
