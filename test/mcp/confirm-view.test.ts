import { describe, expect, it } from "vitest";
import { MINUTE } from "../../src/kit/clock.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import { CONFIRM_TOOL, CONFIRM_URI } from "../../src/views/views.ts";
import { ASKED_HOSTS, type AskedHost, type Connected, type Options } from "./asked-hosts.ts";
import {
  ARGS,
  createDeletion,
  listChanges,
  readConfirmation,
  UPDATE_REPLIES,
} from "./confirming.ts";
import { createOptions, NOW, readProblem, readText, type Result, type Setup } from "./hosts.ts";
import { replayFolder } from "./replay-folder.ts";
import { createReply, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const TOOL = "departments_delete";

const ticketIn = ({ _meta = {} }: Result): string => String(_meta["receivables/ticket"]);

verifies("WK-12");
describe.each(ASKED_HOSTS)("a host that shows views (%s)", (_door, mode, connect) => {
  const open = (options: Options, more: Partial<AskedHost> = {}): Promise<Connected> =>
    connect(options, { mode, showsViews: true, ...more });
  const ask = async (broker = createDeletion(), setup: Setup = {}) => {
    const options = await createOptions(broker, setup);
    const host = await open(options);
    const asked = await host.call(TOOL, ARGS);
    return { host, broker, options, asked, ticket: ticketIn(asked) };
  };

  verifies("WK-10");
  it("is given the question with its view, and the ticket for the view alone", async () => {
    const { broker, asked, ticket } = await ask();
    expect(asked.isError).not.toBe(true);
    expect(asked.structuredContent).toMatchObject({
      waiting: {
        question: "Delete department SALES (Sales and service)?",
        expiresAt: new Date(NOW + 10 * MINUTE).toISOString(),
      },
    });
    expect(asked._meta).toMatchObject({ ui: { resourceUri: CONFIRM_URI } });
    expect(readText(asked)).toContain("Delete department SALES (Sales and service)?");
    expect(readText(asked) + JSON.stringify(asked.structuredContent)).not.toContain(ticket);
    expect(listChanges(broker)).toEqual([]);
  });

  it("carries the call out once when the person approves", async () => {
    const { host, broker, ticket } = await ask();
    const results = await Promise.all(
      Array.from({ length: 3 }, () => host.call(CONFIRM_TOOL, { ticket })),
    );
    const done = results.filter(({ isError }) => isError !== true);
    expect(done).toHaveLength(1);
    expect(done[0]?.structuredContent).toMatchObject({ deleted: true, ...ARGS });
    expect(listChanges(broker)).toMatchObject([
      { args: ARGS, options: { tool: TOOL, confirmedBy: "view" } },
    ]);
  });

  it("drops the call when the person declines", async () => {
    const { host, broker, ticket } = await ask();
    const dropped = await host.call(CONFIRM_TOOL, { ticket, decline: true });
    expect(dropped.structuredContent).toMatchObject({ declined: true });
    const late = await host.call(CONFIRM_TOOL, { ticket });
    expect(readProblem(late).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toEqual([]);
  });

  it("finds its ticket refused elsewhere, later, and altered", async () => {
    let time = NOW;
    const setup = { now: () => time };
    const { host, broker, options, ticket } = await ask(createDeletion(), setup);
    const others = [
      await open(options, { name: "another program" }),
      await open({ ...options, open: async () => ({ ...options, caller: "person-2" }) }),
    ];
    for (const other of others) {
      const stolen = await other.call(CONFIRM_TOOL, { ticket });
      expect(readProblem(stolen).code).toBe("confirmation_invalid");
      const dropped = await other.call(CONFIRM_TOOL, { ticket, decline: true });
      expect(readProblem(dropped).code).toBe("confirmation_invalid");
    }
    const altered = `${ticket.startsWith("B") ? "C" : "B"}${ticket.slice(1)}`;
    for (const bad of ["x", `${ticket}A`, altered]) {
      const result = await host.call(CONFIRM_TOOL, { ticket: bad });
      expect(readProblem(result).code).toBe("confirmation_invalid");
    }
    expect(readProblem(await host.call(CONFIRM_TOOL, {})).code).toBe("invalid_request");
    time += 10 * MINUTE + 1;
    expect(readProblem(await host.call(CONFIRM_TOOL, { ticket })).code).toBe(
      "confirmation_invalid",
    );
    expect(listChanges(broker)).toEqual([]);
    await Promise.all([host, ...others].map((one) => one.close()));
  });

  verifies("C-110");
  it("changes the version that the question was about, and nothing else", async () => {
    let etag = '"1"';
    let amount = 5;
    let time = NOW;
    const broker = scriptBroker({
      ...UPDATE_REPLIES,
      "disputes.get": () =>
        createReply(
          { disputeId: "d", disputeCode: "D-1", amount, currencyCode: "USD" },
          { etag },
        )(),
    });
    const options = await createOptions(broker, { now: () => time });
    const host = await open(options);
    const close = { disputeId: "d", status: "Closed", ifMatch: "*" };
    const first = ticketIn(await host.call("disputes_update", close));
    const second = ticketIn(await host.call("disputes_update", close));
    await host.call(CONFIRM_TOOL, { ticket: first });
    expect(listChanges(broker)).toMatchObject([{ options: { ifMatch: '"1"' } }]);
    [etag, amount, time] = ['"2"', 999_999, time + MINUTE];
    const late = await host.call(CONFIRM_TOOL, { ticket: second });
    expect(readProblem(late).code).toBe("precondition_failed");
    expect(listChanges(broker)).toHaveLength(1);
  });

  it("is asked in the view before it is given a token, also with RECEIVABLES_CONFIRM=refuse", async () => {
    const { host, asked, ticket } = await ask(createDeletion(), {
      settings: { confirm: "refuse" },
    });
    expect(asked._meta).not.toHaveProperty("receivables/confirmation");
    const done = await host.call(CONFIRM_TOOL, { ticket });
    expect(done.structuredContent).toMatchObject({ deleted: true });
  });

  it("does not get a confirmation token for a ticket, nor the reverse", async () => {
    const { host, broker, options, ticket } = await ask();
    const wrong = await host.call(TOOL, { ...ARGS, confirmationToken: ticket });
    expect(readProblem(wrong).code).toBe("confirmation_invalid");
    const plain = await connect(options, { mode });
    const { confirmationToken } = readConfirmation(await plain.call(TOOL, ARGS));
    const other = await host.call(CONFIRM_TOOL, { ticket: confirmationToken });
    expect(readProblem(other).code).toBe("confirmation_invalid");
    expect(listChanges(broker)).toEqual([]);
    await Promise.all([host.close(), plain.close()]);
  });

  it("lists the tool of the view for views alone", async () => {
    const { host, options } = await ask();
    const { tools } = await host.client.listTools();
    expect(tools.find(({ name }) => name === CONFIRM_TOOL)?._meta).toEqual({
      ui: { visibility: ["app"] },
    });
    const plain = await connect(options, { mode });
    const listed = (await plain.client.listTools()).tools.map(({ name }) => name);
    expect(listed).not.toContain(CONFIRM_TOOL);
    await expect(plain.call(CONFIRM_TOOL, { ticket: "x" })).rejects.toThrow(/Unknown tool/);
    const reader = await open(
      await createOptions(createDeletion(), { settings: { readOnly: true } }),
    );
    const read = (await reader.client.listTools()).tools;
    expect(read.map(({ name }) => name)).not.toContain(CONFIRM_TOOL);
    await Promise.all([host, plain, reader].map((one) => one.close()));
  });

  it("is asked by call_tool too, where few tools are listed", async () => {
    const broker = createDeletion();
    const host = await open(await createOptions(broker, { settings: { discovery: true } }));
    const { tools } = await host.client.listTools();
    expect(tools.find(({ name }) => name === "call_tool")?._meta).toMatchObject({
      ui: { resourceUri: CONFIRM_URI },
    });
    const asked = await host.call("call_tool", { name: TOOL, arguments: ARGS });
    const done = await host.call(CONFIRM_TOOL, { ticket: ticketIn(asked) });
    expect(done.structuredContent).toMatchObject({ deleted: true });
  });
});

describe("a ticket on several nodes", () => {
  verifies("WK-12");
  it("is carried out by any of them, and once in total", async () => {
    const [, mode, connect] = ASKED_HOSTS[1] ?? [];
    if (mode === undefined || connect === undefined) throw new Error("no host over HTTP");
    const replayGuard = createReplayFolder(await replayFolder(), () => NOW);
    const nodes = await Promise.all(
      [1, 2].map(async () => {
        const broker = createDeletion();
        const host = await connect(await createOptions(broker, { replayGuard }), {
          mode,
          showsViews: true,
        });
        return { broker, host };
      }),
    );
    const ticket = ticketIn((await nodes[0]?.host.call(TOOL, ARGS)) as Result);
    const results = await Promise.all(nodes.map(({ host }) => host.call(CONFIRM_TOOL, { ticket })));
    expect(results.filter(({ isError }) => isError === true)).toHaveLength(1);
    expect(nodes.flatMap(({ broker }) => listChanges(broker))).toHaveLength(1);
    await Promise.all(nodes.map(({ host }) => host.close()));
  });
});
