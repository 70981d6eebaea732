import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { verifies } from "../support/verifies.ts";
import { HOSTS, connectModern, createOptions, readProblem, type Result } from "./hosts.ts";
import { ACCOUNT, INVOICE } from "./ingest-fixtures.ts";
import { createReply, type ScriptedReply, scriptBroker } from "./script.ts";

const SENT = { account_number: "ACC-1", invoice_date: "2026-01-05", due_date: "2026-02-05" };

const failWith =
  (code: "account_not_found" | "document_not_found"): ScriptedReply =>
  () => {
    throw new Problem(code, "There is none.");
  };

/** A person who gives one answer to every question. */
const answerAll = (answer: boolean) => {
  const questions: string[] = [];
  const person = (question: string) => {
    questions.push(question);
    return { action: "accept" as const, content: { confirm: answer } };
  };
  return { questions, person };
};

const readConfirmation = (result: Result) =>
  result._meta?.["receivables/confirmation"] as { confirmationToken: string; summary: string };

const REPLACE = { account_number: "ACC-1", name: "Southwind" };

const NO_DISPUTES: Record<string, ScriptedReply> = {
  "disputes.list": () => [],
  "resolutions.list": () => [],
};

describe.each(HOSTS)("replacing and closing (%s)", (_name, open) => {
  verifies("D-MCP-2");
  it("asks about an existing account and replaces only the version that the question names", async () => {
    const broker = scriptBroker({
      "accounts.get": createReply({ ...ACCOUNT, notes: [] }, { etag: '"a.7"' }),
      "accounts.replace": createReply({ ...ACCOUNT, name: "Southwind" }, { etag: '"a.8"' }),
    });
    const { questions, person } = answerAll(true);
    const host = await open(await createOptions(broker), person);
    const result = await host.call("accounts_replace", REPLACE);
    expect(result.structuredContent).toMatchObject({ name: "Southwind" });
    expect(result._meta?.["receivables/etag"]).toBe('"a.8"');
    expect(questions).toEqual([
      "Replace account ACC-1 (Northwind Traders), with one named Southwind? Fields that are not sent are lost.",
    ]);
    // Read again after the answer.
    const [, again, replaced] = broker.seen;
    expect(again).toMatchObject({ id: "accounts.get" });
    expect(replaced).toMatchObject({ id: "accounts.replace", args: REPLACE });
    expect(replaced?.options.ifMatch).toBe('"a.7"');
  });

  it("does not ask about a record that does not exist yet", async () => {
    const broker = scriptBroker({
      "documents.get": failWith("document_not_found"),
      "documents.replace": () => INVOICE,
    });
    const { questions, person } = answerAll(false);
    const host = await open(await createOptions(broker), person);
    const args = { document_number: "INV/1", ...SENT };
    expect((await host.call("documents_replace", args)).isError).toBeFalsy();
    expect(questions).toEqual([]);
    expect(broker.seen[1]?.options).toMatchObject({ ifMatch: undefined, ifAbsent: true });
  });

  it("asks before it closes a document, and lets the platform refuse a closed one", async () => {
    let status = "open";
    const broker = scriptBroker({
      ...NO_DISPUTES,
      "documents.get": () => createReply({ ...INVOICE, status }, { etag: `"d.${status}"` })(),
      "documents.close": () => {
        if (status === "closed") throw new Problem("document_already_closed", "It is closed.");
        status = "closed";
        return { closure_reason: "paid", status, documentNumber: "INV/1" };
      },
    });
    const { questions, person } = answerAll(true);
    const host = await open(await createOptions(broker), person);
    const args = { document_number: "INV/1", closure_reason: "paid" };
    const done = await host.call("documents_close", args);
    expect(done.structuredContent).toMatchObject({ status: "closed" });
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"d.open"');
    expect(readProblem(await host.call("documents_close", args)).code).toBe(
      "document_already_closed",
    );
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"d.closed"');
    expect(questions).toEqual(["Close document INV/1 of account ACC-1, 1,204.55 USD, as paid?"]);
  });

  it("changes nothing when the person declines", async () => {
    const broker = scriptBroker({ ...NO_DISPUTES, "documents.get": () => INVOICE });
    const host = await open(await createOptions(broker), answerAll(false).person);
    const args = { document_number: "INV/1", closure_reason: "other" };
    expect(readProblem(await host.call("documents_close", args)).code).toBe("declined");
    expect(broker.seen.every(({ id }) => id !== "documents.close")).toBe(true);
  });
});

describe("replacing through a host that cannot ask", () => {
  const plays = (etag: string | null): Record<string, ScriptedReply> => ({
    "accounts.get": createReply({ ...ACCOUNT, notes: [] }, { etag }),
    "accounts.replace": (_args, { ifMatch }) => {
      if (ifMatch !== '"a.1"') throw new Problem("precondition_failed", "It has changed.");
      return ACCOUNT;
    },
  });

  verifies("D-MCP-2");
  it("the token carries the ETag that the question was about, and holds for that version only", async () => {
    let version = 1;
    const broker = scriptBroker({
      ...plays(null),
      "accounts.get": () => createReply({ ...ACCOUNT, notes: [] }, { etag: `"a.${version}"` })(),
    });
    const host = await connectModern(await createOptions(broker));
    const { confirmationToken, summary } = readConfirmation(
      await host.call("accounts_replace", REPLACE),
    );
    expect(summary).toContain("Northwind Traders");
    const args = { ...REPLACE, confirmationToken };
    expect((await host.call("accounts_replace", args)).isError).toBeFalsy();
    expect(broker.seen.at(-1)?.options.ifMatch).toBe('"a.1"');
    expect(readProblem(await host.call("accounts_replace", args)).code).toBe(
      "confirmation_invalid",
    );
    const other = readConfirmation(await host.call("accounts_replace", REPLACE));
    version = 2;
    const late = { ...REPLACE, confirmationToken: other.confirmationToken };
    expect(readProblem(await host.call("accounts_replace", late)).code).toBe("precondition_failed");
    expect(broker.seen.at(-1)).toMatchObject({ id: "accounts.get" });
  });

  it("refuses an ifMatch of another version without a question", async () => {
    const broker = scriptBroker(plays('"a.1"'));
    const { questions, person } = answerAll(true);
    const host = await connectModern(await createOptions(broker), person);
    const other = await host.call("accounts_replace", { ...REPLACE, ifMatch: '"a.9"' });
    expect(readProblem(other).code).toBe("precondition_failed");
    expect(questions).toEqual([]);
    const same = await host.call("accounts_replace", { ...REPLACE, ifMatch: '"a.1"' });
    expect(same.isError).toBeFalsy();
  });

  it("with confirm=refuse creates a new record and refuses to replace an existing one", async () => {
    const settings = { confirm: "refuse" as const };
    const fresh = scriptBroker({
      "accounts.get": failWith("account_not_found"),
      "accounts.replace": () => ACCOUNT,
    });
    const making = await connectModern(await createOptions(fresh, { settings }));
    expect((await making.call("accounts_replace", REPLACE)).isError).toBeFalsy();
    await making.close();
    const host = await connectModern(
      await createOptions(scriptBroker(plays('"a.1"')), { settings }),
    );
    const { code } = readProblem(await host.call("accounts_replace", REPLACE));
    expect(code).toBe("confirmation_unavailable");
  });

  it("names a record that may not be read by its number", async () => {
    const broker = scriptBroker({
      "accounts.get": () => {
        throw new Problem("forbidden_permission", "Not permitted.");
      },
    });
    const host = await connectModern(await createOptions(broker));
    const { summary } = readConfirmation(await host.call("accounts_replace", REPLACE));
    expect(summary).toContain('Replace account "ACC-1"');
  });
});
