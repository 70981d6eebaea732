import { expect, it } from "vitest";
import { verifies } from "../support/verifies.ts";
import { connectModern, createOptions, NOW } from "./hosts.ts";
import { answerIn } from "./insight-host.ts";
import { createMany, createNote, dispute, servePages } from "./records.ts";
import { scriptBroker } from "./script.ts";

const ACCOUNTS = [
  "Rideau Mechanical Ltd. - East Freda",
  "Sawtooth Mountain Outfitters",
  "Talleres Ibáñez S.L.",
  "Kilbride Engineering Ltd.",
  "Harbor Point Industrial - Buckridgehaven",
];
const REASONS = [
  "Goods damaged in transit",
  "Sales tax charged to an exempt customer",
  "Short shipment",
  "Unearned cash discount",
];
const NOTE =
  "Carrier confirms one pallet misdelivered and returned to terminal. Waiting for the claim form.";
const DAY = 86_400_000;

/** Disputes as a customer's ledger has them: two of three with an assignee, one of twelve with a duplicate. */
const open = createMany(60, (index) => {
  const first = index - (index % 12 === 1 ? 1 : 0);
  const created = new Date(NOW - (20 + index * 3) * DAY).toISOString();
  return dispute(index, {
    disputeCode: `D-5${String(200_000 + first * 977)}-0${1 + index - first}`,
    documentNumber: `5${String(200_000 + first * 977)}`,
    accountNumber: `C-${10_864 + (first % 5)}`,
    accountName: ACCOUNTS[first % 5] ?? "",
    reasonName: REASONS[first % 4] ?? "",
    amount: 1213.56 + first * 61.13,
    createDate: created,
    updateDate: created,
    ...(index % 3 === 2 ? { assigneeId: null, assigneeName: null } : {}),
  });
});

verifies("WK-52", "IN-03");
it.each([{}, { deadlineDays: 45 }, { orderBy: "age" }])(
  "fits the fifteen disputes that come first, short ones, into a usual answer: %j",
  async (args) => {
    const broker = scriptBroker({
      "disputes.list": servePages(open),
      "documents.get": () => ({ status: "open" }),
      "assignees.list": () => [],
      "dispute_notes.list": () => [createNote(1, NOTE)],
      "dispute_attachments.list": () => [],
    });
    const host = await connectModern(await createOptions(broker, { now: () => NOW }));
    const { items, notes, itemsTotal } = answerIn(await host.call("disputes_triage", args));
    expect([items.length, itemsTotal]).toEqual([15, open.length]);
    expect(JSON.stringify(items)).not.toContain("disputeId");
    expect(notes.join(" ")).toContain("Items are short to fit.");
    const whole = answerIn(await host.call("disputes_triage", { ...args, limit: 16 }), 6000);
    expect(whole.items[0]).toMatchObject({
      rank: 1,
      disputeCode: items[0]?.["disputeCode"],
      lastNote: { text: NOTE },
    });
    await host.close();
  },
);
