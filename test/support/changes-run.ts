import { expect } from "vitest";
import { createDice } from "./dice.ts";
import { documentAt } from "./ingest.ts";
import { type Caller, DISPUTES, type Person, type TestPlatform } from "./platform.ts";

const MINUTE = 60_000;

/** The documents on which the disputes are; all are open at first. */
export const DOCUMENTS = ["INV-1", "INV-2", "INV-3", "INV-4", "INV-5"];

/** An event that happened. */
export type Happened = {
  kind: string;
  at: number;
  by: string;
  disputeId?: string | undefined;
  /** The disputes that were open on the document. */
  on?: string[];
};

/** A dispute as the run knows it. */
export type Own = {
  disputeId: string;
  disputeCode: string;
  documentNumber: string;
  amount: number;
  status: 0 | 1 | 2;
  assignee: string;
  noteId?: string;
};

type Needs = { at: TestPlatform; people: readonly Person[]; ingest: Caller };

/**
 * Creates a random run of changes of disputes, notes, files and documents. It knows what has happened, without what is
 * left of nothing since: events of deleted disputes.
 */
export const createChangesRun = ({ at, people, ingest }: Needs) => {
  let events: Happened[] = [];
  const own: Own[] = [];
  const open = new Map(DOCUMENTS.map((number) => [number, true]));
  const dice = createDice(80);

  const done = (kind: string, person: Person | undefined, more: Partial<Happened> = {}) =>
    events.push({ kind, at: at.clock(), by: person?.userId ?? "", ...more });

  const send = async (person: Person, id: string, body: object): Promise<void> => {
    const { status, text } = await person.call("PUT", `${DISPUTES}/${id}`, { body });
    expect(status, text).toBe(200);
  };

  const create = async (person: Person): Promise<void> => {
    const documentNumber = dice.pick(DOCUMENTS);
    const amount = dice.whole(1, 400) / 4;
    const body = { accountNumber: "A-1", documentNumber, amount, reasonCode: "WRONG" };
    const made = (await person.call("POST", DISPUTES, { body })).body;
    const { disputeId, disputeCode } = made;
    own.push({ disputeId, disputeCode, documentNumber, amount, status: 0, assignee: "" });
    done("opened", person, { disputeId });
  };

  /** Changes a dispute in one of the ways that its status allows. */
  const change = async (person: Person, one: Own): Promise<void> => {
    const { disputeId } = one;
    const by = { disputeId };
    const assign = (): object => {
      one.assignee = one.assignee === "ana@x.example" ? "bo@x.example" : "ana@x.example";
      done("reassigned", person, by);
      return { assigneeEmail: one.assignee };
    };
    if (one.status !== 0) {
      one.status = 0;
      done("reopened", person, by);
      const more = dice.chance(0.5) ? assign() : {};
      return send(person, disputeId, { status: 0, ...more });
    }
    const way = dice.whole(0, 5);
    if (way === 0) return send(person, disputeId, { amount: one.amount });
    if (way === 1) {
      one.amount += 1;
      done("changed", person, by);
      return send(person, disputeId, { amount: one.amount, assigneeEmail: one.assignee });
    }
    if (way === 2) return send(person, disputeId, assign());
    if (way === 3) {
      one.status = 2;
      done("canceled", person, by);
      return send(person, disputeId, { status: 2 });
    }
    one.status = 1;
    done("closed", person, by);
    return send(person, disputeId, { status: 1, resolutionCode: "CREDIT" });
  };

  const write = async (person: Person, one: Own): Promise<void> => {
    const path = `${DISPUTES}/${one.disputeId}`;
    const by = { disputeId: one.disputeId };
    if (dice.chance(0.4)) {
      done("file", person, by);
      const { status } = await person.call("POST", `${path}/attachments`, {
        body: { fileName: "proof.pdf", visibility: "All" },
      });
      expect(status).toBe(201);
      return;
    }
    done("note", person, by);
    const body = { content: "Seen.", visibility: "All" };
    const note = one.noteId;
    const sent = await (note === undefined
      ? person.call("POST", `${path}/disputenotes`, { body })
      : person.call("PUT", `${path}/disputenotes/${note}`, { body }));
    expect([200, 201], sent.text).toContain(sent.status);
    one.noteId = sent.body.disputeNoteId;
  };

  /** Closes or reopens a document, and with it the open disputes on it. */
  const move = async (): Promise<void> => {
    const documentNumber = dice.pick(DOCUMENTS);
    const isOpen = open.get(documentNumber) === true;
    open.set(documentNumber, !isOpen);
    const on = own.filter((one) => one.documentNumber === documentNumber && one.status === 0);
    if (on.length > 0)
      done(isOpen ? "documentClosed" : "documentReopened", undefined, {
        on: on.map(({ disputeId }) => disputeId),
      });
    for (const one of isOpen ? on : []) {
      one.status = 1;
      done("closed", undefined, { disputeId: one.disputeId });
    }
    const path = documentAt(documentNumber);
    const sent = await (isOpen && dice.chance(0.5)
      ? ingest("POST", `${path}/closure`, { body: { closure_reason: "paid" } })
      : ingest("PATCH", path, { body: { denomination: isOpen ? 0 : 100 } }));
    expect(sent.status, sent.text).toBe(200);
  };

  const remove = async (person: Person, one: Own): Promise<void> => {
    own.splice(own.indexOf(one), 1);
    // Of a deleted dispute nothing is left, also not that its document closed.
    const isLeft = (id: string): boolean => own.some(({ disputeId }) => disputeId === id);
    events = events.filter(
      ({ disputeId, on }) => disputeId !== one.disputeId && (on?.some(isLeft) ?? true),
    );
    done("deleted", person, { disputeId: one.disputeId });
    const { status } = await person.call("DELETE", `${DISPUTES}/${one.disputeId}`);
    expect(status).toBe(204);
  };

  const act = async (): Promise<void> => {
    at.clock.advance(dice.whole(1, 360) * MINUTE + dice.whole(0, 999));
    const person = dice.pick(people);
    const way = dice.whole(0, 19);
    if (own.length < 3 || way < 5) return create(person);
    if (way < 12) return change(person, dice.pick(own));
    if (way < 15) return write(person, dice.pick(own));
    if (way < 18) return move();
    return remove(person, dice.pick(own));
  };

  return { act, own, events: (): readonly Happened[] => events };
};
