import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import { CONFIRM_TOOL } from "../../src/views/views.ts";
import { createClaimRecords } from "../support/claim-records.ts";
import { type Caller, DISPUTES, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { ASKED_HOSTS } from "./asked-hosts.ts";
import { readConfirmation } from "./confirming.ts";
import { createTenantBroker, type Tenant } from "./each-tool.ts";
import {
  connectModern,
  createOptions,
  type Host,
  NOW,
  readProblem,
  readText,
  YES,
} from "./hosts.ts";
import { replayFolder } from "./replay-folder.ts";

type Outcome = { outcome: string; disputeId?: string; disputeCode?: string; code?: string };
type Report = { opened: number; openedBefore: number; refused: number; results: Outcome[] };

const CLAIM = { accountNumber: "C-1", documentNumber: "INV-1", amount: 50, reasonCode: "SHORT" };

onEveryStore("disputes_open", (at) => {
  let tenant: Tenant;
  let broker: Broker;
  let host: Host;
  let options: Awaited<ReturnType<typeof createOptions>>;
  let questions: string[];
  let meanwhile: () => Promise<unknown>;
  let person: Caller;
  let folder: string;
  let amounts = 0;

  beforeAll(async () => {
    tenant = { at: at(), tenantId: "opening", admin: await at().tenant("opening") };
    await createClaimRecords(at(), "opening", tenant.admin);
    broker = await createTenantBroker(tenant);
    folder = await replayFolder();
    options = await createOptions(broker, { replayGuard: createReplayFolder(folder, () => NOW) });
    person = (...sent) => tenant.admin.call(...sent);
    host = await connectModern(options, async (question) => {
      questions.push(question);
      await meanwhile();
      return YES(question);
    });
  });
  afterAll(() => host.close());
  beforeEach(() => {
    questions = [];
    meanwhile = async () => {};
  });

  /** An amount that no other test uses. */
  const fresh = (): number => {
    amounts += 1;
    return amounts;
  };
  const send = async (method: string, path: string, body?: unknown) => {
    const sent = await person(method, path, body === undefined ? {} : { body });
    if (sent.status >= 300) throw new Error(sent.text);
    return sent.body;
  };
  const openedOver = async (amount: number): Promise<Record<string, unknown>[]> =>
    send("GET", `${DISPUTES}?AmountMin=${amount}&AmountMax=${amount}`);
  const notesOf = async (disputeId: string | undefined): Promise<string[]> => {
    const notes = (await send("GET", `${DISPUTES}/${disputeId}/disputenotes`)) as {
      content: string;
    }[];
    return notes.map(({ content }) => content);
  };
  const report = async (claims: object[], more: object = {}, by = host): Promise<Report> => {
    const result = await by.call("disputes_open", { claims, ...more });
    if (result.isError === true) throw new Error(readText(result));
    return result.structuredContent as unknown as Report;
  };
  const faultsOf = async (claims: object[]) => {
    const problem = readProblem(await host.call("disputes_open", { claims }));
    return problem.fields?.map(({ field, message }) => `${field} ${message}`);
  };

  type Hook = (amount: unknown) => void;

  /** Connects a host over a broker with a hook before and after the creation of a dispute. */
  const connectOver = async (before: Hook = () => {}, after: Hook = () => {}): Promise<Host> => {
    const call: Broker["call"] = async (operation, args, how) => {
      if (operation.id !== "disputes.create") return broker.call(operation, args, how);
      const { amount } = args as { amount?: unknown };
      before(amount);
      const reply = await broker.call(operation, args, how);
      after(amount);
      return reply;
    };
    const { clock } = at();
    const own = await createOptions(
      { ...broker, call },
      {
        now: clock,
        replayGuard: createReplayFolder(await replayFolder(), clock),
        wait: { sleep: async () => {}, chance: () => 0 },
      },
    );
    return connectModern(own, YES);
  };

  verifies("WK-41", "WK-01a");
  it("asks once with a table, and opens the claims with their notes", async () => {
    const [one, two] = [fresh(), fresh()];
    const { opened, results } = await report([
      { ...CLAIM, amount: one, paymentId: "P-1", note: "three boxes were missing" },
      { ...CLAIM, documentNumber: "inv-3", accountNumber: "c-2", amount: two, reasonCode: "dmg" },
    ]);
    expect(opened).toBe(2);
    expect(questions).toHaveLength(1);
    expect(questions[0]?.split("\n")).toEqual([
      "Open 2 disputes?",
      `1. ${one}.00 USD on INV-1 of Acme Trading Ltd (C-1), for SHORT (Goods short shipped), PO PO-1, payment P-1, note "three boxes were missing"`,
      `2. ${two}.00 USD on INV-3 of Borealis AB (C-2), for DMG (Damaged in transit)`,
    ]);
    const [first, second] = results;
    expect(results).toMatchObject([
      {
        claim: 1,
        outcome: "opened",
        note: "added",
        etag: expect.any(String),
        dispute: { status: "Open", amount: one, reasonName: "Goods short shipped" },
      },
      { claim: 2, outcome: "opened", dispute: { documentNumber: "INV-3", accountNumber: "C-2" } },
    ]);
    expect(await notesOf(first?.disputeId)).toEqual(["three boxes were missing\nPayment: P-1"]);
    expect(await notesOf(second?.disputeId)).toEqual([]);
    expect(await send("GET", `${DISPUTES}/${first?.disputeId}`)).toMatchObject({
      poNumber: "PO-1",
    });
  });

  verifies("WK-41");
  it("names every fault of every claim with its place, and asks nothing", async () => {
    const [taken, amount] = [fresh(), fresh()];
    const { results } = await report([
      { ...CLAIM, amount: taken, poNumber: "PO-9", debitMemo: "DM-1", paymentId: "P-1" },
    ]);
    const code = results[0]?.disputeCode;
    questions = [];
    const faults = await faultsOf([
      { ...CLAIM, amount },
      { ...CLAIM, accountNumber: "C-9", documentNumber: "INV-9", amount: 0, reasonCode: "NONE" },
      { ...CLAIM, documentNumber: "INV-3", amount: 501 },
      { ...CLAIM, documentNumber: "INV-4", amount: 90.01 },
      { accountNumber: "C-1", documentNumber: "INV-1", amount, poNumber: "1" },
      { ...CLAIM, amount: taken, poNumber: "po 9" },
      { ...CLAIM, amount: taken, debitMemo: "dm-1" },
      { ...CLAIM, amount: taken, paymentId: "P-1" },
      { ...CLAIM, documentNumber: "INV-2", amount, poNumber: "1" },
      { ...CLAIM, amount: 5.555 },
      { ...CLAIM, amount, currencyCode: "eur" },
    ]);
    const same = `of ${code} of the same amount`;
    expect(faults).toEqual([
      "claims[1].accountNumber names no account",
      "claims[1].documentNumber names no document",
      "claims[1].amount must be greater than 0",
      "claims[1].reasonCode names no reason",
      "claims[2].documentNumber is a document of the account C-2",
      "claims[2].amount must not be above the 500.00 USD that was billed",
      "claims[3].amount must not be above the 90.00 USD that was billed",
      "claims[4].reasonCode is required unless another reason is sent, by code or id",
      `claims[5].poNumber is the PO number ${same}`,
      `claims[6].debitMemo is the debit memo ${same}`,
      `claims[7].paymentId is the payment ${same}`,
      "claims[8].poNumber is the PO number of claims[4] of the same amount",
      "claims[9].amount may have 2 decimals in USD",
      "claims[10].currencyCode is not the currency of the document, which is USD",
    ]);
    expect(questions).toEqual([]);
    expect(await openedOver(amount)).toEqual([]);
  });

  it("takes one payment's deductions of several documents for different ones", async () => {
    const amount = fresh();
    const claims = ["INV-1", "INV-2"].map((documentNumber) => ({
      ...CLAIM,
      documentNumber,
      amount,
      paymentId: "P-1",
    }));
    expect(await report(claims)).toMatchObject({ opened: 2 });
  });

  verifies("WK-41");
  it("shows equal document and amount as a doubt", async () => {
    const amount = fresh();
    const first = await report([{ ...CLAIM, amount, paymentId: "P-1" }]);
    const claims = [
      { ...CLAIM, amount, paymentId: "P-2" },
      { ...CLAIM, amount, paymentId: "P-9" },
    ];
    expect(await report(claims)).toMatchObject({ opened: 2 });
    const [, one, two] = questions[1]?.split("\n") ?? [];
    const code = first.results[0]?.disputeCode;
    expect(one).toContain(`[Doubt: same document and amount as ${code}]`);
    expect(two).toContain(
      `[Doubt: same document and amount as ${code}; same document and amount as claims[0]; payment P-9 has no row of the document]`,
    );
    expect(await openedOver(amount)).toHaveLength(3);
  });

  verifies("WK-41", "WK-42");
  it("names disputes of the document that have ended as a doubt, in the question too", async () => {
    const amount = fresh();
    const claim = { ...CLAIM, documentNumber: "INV-5", amount };
    const { results } = await report([claim]);
    const { disputeId, disputeCode } = results[0] ?? {};
    await send("PUT", `${DISPUTES}/${disputeId}`, { status: 2 });
    const line = { reference: "INV-5", amount };
    const { structuredContent } = await host.call("match_claims", { lines: [line] });
    expect(structuredContent).toMatchObject({
      items: [
        {
          doubts: ["disputed before"],
          endedDisputes: [{ disputeCode, status: "Canceled", amount, endedOn: "2026-03-02" }],
        },
      ],
    });
    questions = [];
    await report([claim], { idempotencyKey: "again" });
    expect(questions[0]).toContain(
      `[Doubt: disputed before as ${disputeCode}, ${amount}.00 USD, canceled 2026-03-02]`,
    );
    await send("PUT", `${DISPUTES}/${disputeId}`, { status: 0 });
  });

  verifies("WK-41");
  it("opens nothing twice when the call is repeated, also after a restart", async () => {
    const amount = fresh();
    const claims = [{ ...CLAIM, amount, poNumber: "PO-7", note: "n" }];
    const [first, ...again] = [await report(claims), await report(claims)];
    const { disputeId, disputeCode } = first?.results[0] ?? {};
    const before = { opened: 0, openedBefore: 1, results: [{ disputeId, disputeCode }] };
    expect(again).toMatchObject([before]);
    expect(questions).toHaveLength(1);
    expect(await notesOf(disputeId)).toEqual(["n"]);
    const replayGuard = createReplayFolder(folder, () => NOW);
    const restarted = await connectModern(await createOptions(broker, { replayGuard }), YES);
    expect(await report(claims, {}, restarted)).toMatchObject(before);
    expect(await openedOver(amount)).toHaveLength(1);
    const more = { idempotencyKey: "once more" };
    const refused = await host.call("disputes_open", { claims, ...more });
    expect(readText(refused)).toContain(`is the PO number of ${disputeCode}`);
    const plain = { ...CLAIM, amount };
    expect(await report([plain], more)).toMatchObject({ opened: 1 });
    expect(await report([plain], more)).toMatchObject({ opened: 0, openedBefore: 1 });
  });

  it("compares amounts within a currency", async () => {
    const claim = { ...CLAIM, amount: fresh(), poNumber: "PO-6" };
    const inEuros = { ...claim, documentNumber: "INV-6" };
    await send("POST", DISPUTES, { ...inEuros, currencyCode: "EUR" });
    expect((await faultsOf([inEuros]))?.join()).toContain("is the PO number of D-INV-6-01");
    expect(await report([{ ...claim, documentNumber: "INV-7" }])).toMatchObject({ opened: 1 });
  });

  verifies("WK-41");
  it("opens the rest after a partial failure", async () => {
    const [one, two] = [fresh(), fresh()];
    const claims = [
      { ...CLAIM, amount: one },
      { ...CLAIM, documentNumber: "INV-2", amount: two },
    ];
    let isBroken = true;
    const own = await connectOver((amount) => {
      if (isBroken && amount === two) throw new Problem("not_found", "The reason is gone.");
    });
    expect(await report(claims, {}, own)).toMatchObject({
      opened: 1,
      refused: 1,
      results: [{ outcome: "opened" }, { outcome: "refused", code: "not_found" }],
    });
    isBroken = false;
    expect(await report(claims, {}, own)).toMatchObject({ opened: 1, openedBefore: 1 });
    expect(await openedOver(one)).toHaveLength(1);
    expect(await openedOver(two)).toHaveLength(1);
  });

  const LOST = new Problem("unavailable", "The connection was lost.", { uncertain: true });

  verifies("WK-41");
  it("finds the dispute of a call whose answer was lost, on a platform without keys", async () => {
    const amount = fresh();
    let isLost = true;
    const own = await connectOver(undefined, () => {
      if (isLost) throw LOST;
    });
    const claims = [{ ...CLAIM, amount }];
    expect(await report(claims, {}, own)).toMatchObject({ results: [{ code: "unavailable" }] });
    isLost = false;
    const { results } = await report(claims, {}, own);
    const [{ disputeCode }] = (await openedOver(amount)) as [{ disputeCode: string }];
    expect(results).toMatchObject([{ outcome: "opened before", disputeCode }]);
    expect(await report(claims, {}, own)).toMatchObject({ openedBefore: 1 });
    expect(await openedOver(amount)).toHaveLength(1);
  });

  it("tries a call again that may have been lost on its way, after two minutes", async () => {
    const amount = fresh();
    let isLost = true;
    const own = await connectOver(() => {
      if (isLost) throw LOST;
    });
    const claims = [{ ...CLAIM, amount }];
    await report(claims, {}, own);
    isLost = false;
    expect(await report(claims, {}, own)).toMatchObject({
      refused: 1,
      results: [{ message: expect.stringContaining("Repeat the call in two minutes") }],
    });
    at().clock.advance(3 * MINUTE);
    expect(await report(claims, {}, own)).toMatchObject({ opened: 1 });
    expect(await openedOver(amount)).toHaveLength(1);
  });

  verifies("WK-41");
  it("opens each claim once for two calls at once", async () => {
    const amount = fresh();
    const claims = [
      { ...CLAIM, amount },
      { ...CLAIM, documentNumber: "INV-2", amount },
    ];
    const other = await connectModern(options, YES);
    const reports = await Promise.all([report(claims), report(claims, {}, other)]);
    const codes = reports.map(({ results }) => results.map(({ disputeCode }) => disputeCode));
    expect(codes[0]).toEqual(codes[1]);
    expect(reports[0]?.opened).toBe(2 - (reports[1]?.opened ?? 0));
    expect(await openedOver(amount)).toHaveLength(2);
  });

  verifies("WK-45");
  it.each([
    ["that of the document", "INV-1", {}, "PO-1"],
    ["the given one", "INV-1", { poNumber: "PO-8" }, "PO-8"],
    ["none", "INV-2", {}, null],
  ])("disputes_create takes %s as PO number", async (_which, documentNumber, more, poNumber) => {
    const args = { ...CLAIM, documentNumber, amount: fresh(), ...more };
    const { structuredContent } = await host.call("disputes_create", args);
    expect(structuredContent).toMatchObject({ poNumber });
  });

  verifies("WK-41", "C-110");
  it("does not open a claim whose records changed while the person read the question", async () => {
    const [one, two] = [fresh(), fresh()];
    const claims = [
      { ...CLAIM, amount: one },
      { ...CLAIM, documentNumber: "INV-2", amount: two },
    ];
    meanwhile = () => send("POST", DISPUTES, { ...CLAIM, amount: one });
    expect(await report(claims)).toMatchObject({
      opened: 1,
      refused: 1,
      results: [{ outcome: "refused", code: "precondition_failed" }, { outcome: "opened" }],
    });
    expect(await openedOver(one)).toHaveLength(1);
    const three = fresh();
    const claim = { ...CLAIM, amount: three, poNumber: "PO-5" };
    meanwhile = () => send("POST", DISPUTES, claim);
    expect(await report([claim])).toMatchObject({ opened: 0, results: [{ code: "duplicate" }] });
  });

  describe.each(ASKED_HOSTS)("%s", (_door, mode, connect) => {
    verifies("WK-41", "WK-10");
    it("asks with a form, in a view and by token", async () => {
      const [one, two, three] = [fresh(), fresh(), fresh()];
      const args = (amount: number) => ({ claims: [{ ...CLAIM, amount }] });
      const form = await connect(options, { mode, person: YES });
      const done = await form.call("disputes_open", args(one));
      expect(done.structuredContent).toMatchObject({ opened: 1 });
      const view = await connect(options, { mode, showsViews: true });
      const waiting = await view.call("disputes_open", args(two));
      expect(waiting.structuredContent).toMatchObject({
        waiting: { question: expect.stringContaining("Open 1 dispute?\n1. ") },
      });
      const { _meta = {} } = waiting;
      const approved = await view.call(CONFIRM_TOOL, { ticket: _meta["receivables/ticket"] });
      expect(approved.structuredContent).toMatchObject({ opened: 1 });
      const bare = await connect(options, { mode });
      const asked = await bare.call("disputes_open", args(three));
      const { confirmationToken } = readConfirmation(asked);
      const tokened = await bare.call("disputes_open", { ...args(three), confirmationToken });
      expect(tokened.structuredContent).toMatchObject({ opened: 1 });
      const again = await bare.call("disputes_open", { ...args(three), confirmationToken });
      expect(readProblem(again).code).toBe("confirmation_invalid");
      await Promise.all([form.close(), view.close(), bare.close()]);
    });
  });
});
