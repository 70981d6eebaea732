import { beforeAll, describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { accountAt, documentAt } from "../support/ingest.ts";
import { load } from "../support/payment-rows.ts";
import { configure, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { connectModern, createOptions } from "./hosts.ts";
import { answerIn, askAt } from "./insight-host.ts";
import { scriptBroker } from "./script.ts";

onEveryStore("find_records", (at) => {
  const asking = askAt(at, "finding");
  beforeAll(async () => {
    const { admin, at: platform, tenantId } = asking();
    await configure(admin);
    const ingest = await platform.exportCaller(tenantId);
    await ingest("PUT", accountAt("A-1"), { body: { name: "Acme GmbH", currency: "EUR" } });
    await ingest("PUT", documentAt("A-1"), {
      body: { account_number: "A-1", invoice_date: "2026-01-01", due_date: "2026-02-01" },
    });
    const body = { accountNumber: "A-1", documentNumber: "INV-1", amount: 5, reasonCode: "WRONG" };
    await admin.call("POST", DISPUTES, { body });
    await load(platform, tenantId, "cashapp", [
      {
        id: "1",
        paymentId: "P-1",
        accountNumber: "A-1",
        accountName: "Acme GmbH",
        payerName: "ACME Treasury",
      },
      {
        id: "2",
        paymentId: "P-2",
        accountNumber: "A-2",
        accountName: "New Acme",
        payerName: "Zed",
      },
    ]);
    await load(platform, tenantId, "bpn", [
      { id: "1", networkPaymentId: "N-1", payerId: "PAY-7", payerName: "Acme Network" },
    ]);
  });

  const found = async (args: Record<string, unknown>) =>
    (await asking().ask("find_records", args)).items.map(({ type, id, matchedOn, tool }) => [
      type,
      id,
      matchedOn,
      tool,
    ]);

  verifies("IN-45");
  it("finds records by their number, each with the tool that reads it", async () => {
    expect(await found({ text: "A-1" })).toEqual([
      ["account", "A-1", "accountNumber", "account_overview"],
      ["document", "A-1", "documentNumber", "documents_get"],
      ["dispute", "D-INV-1-01", "accountNumber", "dispute_packet"],
    ]);
    expect(await found({ text: "D-INV-1-01" })).toEqual([
      ["dispute", "D-INV-1-01", "disputeCode", "dispute_packet"],
    ]);
  });

  verifies("WK-48");
  it("tells day and reason of a closing wherever the document is, and counts its balance as 0", async () => {
    const { ask, at: platform, tenantId } = asking();
    const ingest = await platform.exportCaller(tenantId);
    const body = {
      account_number: "A-9",
      invoice_date: "2026-01-01",
      due_date: "2026-02-01",
      currency: "EUR",
      denomination: 40,
    };
    await ingest("PUT", documentAt("C-9"), { body });
    const closure = { closure_reason: "write_off", closure_date: "2026-02-20T12:00:00Z" };
    const closed = await ingest("POST", `${documentAt("C-9")}/closure`, { body: closure });
    expect(closed.status, closed.text).toBe(200);
    const closing = { closedAt: "2026-02-20T12:00:00.000Z", closure_reason: "write_off" };
    const paid = { ...closing, denomination: 0 };
    const uri = "receivables://documents/C-9";
    expect(await ask("documents_get", { document_number: "C-9" })).toMatchObject(paid);
    expect(await ask("documents_list", { search: "C-9" })).toMatchObject({ data: [paid] });
    expect(await ask("read_resource", { uri })).toMatchObject({ content: { document: paid } });
    for (const fields of [["denomination"], ["*"]]) {
      const listed = await ask("documents_list", { search: "C-9", fields });
      expect(listed).toMatchObject({ data: [{ denomination: 0 }] });
    }
    const stored = await ingest("GET", documentAt("C-9"));
    expect(stored.body, "the balance before").toMatchObject({ denomination: 40 });
    const { items } = await ask("find_records", { text: "C-9", types: "document" });
    expect(items[0]?.["label"]).toMatch(/closed on 2026-02-20 \(write_off\)$/);
    const lines = [{ reference: "C-9", amount: 40 }];
    const [claim] = (await ask("match_claims", { lines })).items;
    const found = {
      status: "closed",
      closedOn: "2026-02-20",
      closureReason: "write_off",
      balance: 0,
    };
    expect(claim?.["document"]).toMatchObject(found);
  });

  verifies("IN-45");
  it.each(["D-inv-1", "inv-1-01", "d-INV-1-0"])("finds a dispute by %s", async (text) => {
    const hit = ["dispute", "D-INV-1-01", "disputeCode", "dispute_packet"];
    expect(await found({ text, types: "dispute" })).toEqual([hit]);
  });

  verifies("IN-01", "IN-45");
  it("says where else to look if nothing is found, and what few characters find", async () => {
    const nothing = await asking().ask("find_records", { text: "INV-1-07" });
    expect(nothing).toMatchObject({
      rowCount: 0,
      notes: [expect.stringMatching(/payments_query.*assignees_list/)],
    });
    const short = await asking().ask("find_records", { text: "ac", types: "account" });
    expect(short).toMatchObject({
      rowCount: 2,
      notes: [expect.stringMatching(/^Fewer than 3 characters/)],
    });
  });

  verifies("IN-45");
  it("finds by a part of a name, what begins with it first", async () => {
    expect(await found({ text: "acme", types: ["account", "payer"] })).toEqual([
      ["account", "A-1", "name", "account_overview"],
      ["payer", "ACME Treasury", "payerName", "payments_summarize"],
      ["payer", "PAY-7", "payerName", "payments_summarize"],
      ["account", "A-2", "name", "account_overview"],
    ]);
    const one = await asking().ask("find_records", { text: "acme", types: "payer", limit: 1 });
    expect(one).toMatchObject({
      rowCount: 2,
      itemsTotal: 2,
      items: [{ label: "ACME Treasury (cashapp)" }],
    });
  });

  verifies("IN-45");
  it("finds disputes by the name of their account, and accounts by a misspelt name", async () => {
    expect(await found({ text: "acme g", types: ["dispute"] })).toEqual([
      ["dispute", "D-INV-1-01", "accountName", "dispute_packet"],
    ]);
    const one = await asking().ask("find_records", { text: "Acme Gmbb" });
    expect(one.items).toMatchObject([{ type: "account", id: "A-1", matchedOn: "similarName" }]);
    expect(one.notes).toContain("Nothing has this text; these accounts have similar names.");
  });

  verifies("IN-05");
  it("tells a host that asks for it which records are searched", async () => {
    const said: unknown[] = [];
    const call = { name: "find_records", arguments: { text: "A-1", types: ["account"] } };
    const onprogress = ({ message }: { message?: string | undefined }) => said.push(message);
    await asking().host.client.callTool(call, { onprogress });
    expect(said).toEqual(["Searched accounts."]);
  });
});

describe("find_records with more hits than it reads", () => {
  verifies("IN-01", "IN-45");
  it("says that more exist", async () => {
    const page = (row: object) => ({ data: [row], pagination: { cursor: "x", hasMore: true } });
    const broker = scriptBroker({
      "documents.get": () => {
        throw new Problem("document_not_found", "There is none.");
      },
      "documents.list": () =>
        page({ documentNumber: "INV-1", account_number: "A", status: "open" }),
    });
    const announced = { ...broker, extensions: async () => new Set(["documents.list"]) };
    const host = await connectModern(await createOptions(announced));
    const answer = answerIn(await host.call("find_records", { text: "INV", types: "document" }));
    await host.close();
    expect(answer).toMatchObject({ truncated: true, itemsTotal: 1 });
    expect(answer.notes).toContain("More records match than were read; a longer text finds fewer.");
  });
});

describe("find_records without some rights", () => {
  verifies("IN-45");
  it("searches the rest and names what was not searched", async () => {
    const refuse = () => {
      throw new Problem("unauthenticated", "No key for the export service is configured.");
    };
    const dispute = {
      disputeId: "d-1",
      disputeCode: "D-1-01",
      documentNumber: "1",
      accountNumber: "A",
    };
    const broker = scriptBroker({
      "accounts.get": refuse,
      "accounts.list": refuse,
      "documents.get": refuse,
      "documents.list": refuse,
      "payments.query": refuse,
      "disputes.list": ({ DocumentNumber }) => (DocumentNumber === "1" ? [dispute] : []),
      "disputes.get": () => {
        throw new Problem("not_found", "There is none.");
      },
    });
    const host = await connectModern(await createOptions(broker));
    const answer = answerIn(await host.call("find_records", { text: "1" }));
    await host.close();
    expect(answer.items).toMatchObject([{ type: "dispute", id: "D-1-01" }]);
    expect(answer.notes.join(" ")).toContain(
      "Payers were not searched: No key for the export service is configured.",
    );
  });

  const DOWN = new Problem("unavailable", "The platform does not answer.");
  const down = () => {
    throw DOWN;
  };
  const absent = () => {
    throw new Problem("not_found", "There is none.");
  };
  const ask = async (script: Parameters<typeof scriptBroker>[0], text: string) => {
    const host = await connectModern(await createOptions(scriptBroker(script)));
    const answer = await host.call("find_records", { text });
    await host.close();
    return answer;
  };

  verifies("IN-45", "WK-01");
  it("fails if nothing was searched, instead of saying that nothing has this text", async () => {
    const all = { "accounts.get": down, "documents.get": down, "disputes.get": down };
    const answer = await ask({ ...all, "disputes.list": down, "payments.query": down }, "1");
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer.content)).toContain(DOWN.message);
  });

  verifies("IN-45");
  it("does not say that nothing has this text if a part was not searched", async () => {
    const none = { "accounts.get": absent, "documents.get": absent, "disputes.get": absent };
    const answer = await ask({ ...none, "disputes.list": () => [], "payments.query": down }, "1");
    const { notes } = answerIn(answer);
    expect(notes).toContain("Nothing of what could be searched has this text.");
    expect(notes.join(" ")).not.toContain("Nothing has this text");
  });
});
