import type { Dice } from "../support/dice.ts";
import type { Answer, Asked } from "./server.ts";

type Fields = Record<string, unknown>;

/** The effect of a request on the records. */
export type Change =
  | { kind: "none"; status: number }
  | { kind: "create"; mark: string; sent: Fields }
  | { kind: "update"; id: string; shown: Fields }
  | { kind: "delete"; id: string }
  | { kind: "note"; id: string; mark: string }
  | { kind: "edit"; id: string; noteId: string; mark: string }
  | { kind: "erase"; id: string; noteId: string };

/** One request. Its MCP tool name is unique, so that its audit entry can be found. */
export type Deed = Asked & { tool: string; action: string; change: Change; key?: string };

export type Note = { content: string; version: number; answer: Fields | undefined };
export type Dispute = {
  /** As it was last answered; what was never answered is missing. */
  shown: Fields;
  version: number;
  notes: Map<string, Note>;
};
export type Entry = { method: string; status: number; action: string };

/** The expected content of the store: everything that was acknowledged, and nothing else. */
export type World = {
  tenantId: string;
  token: string;
  disputes: Map<string, Dispute>;
  /** Number of disputes that each document has ever had. */
  sequences: Map<string, number>;
  codes: Set<string>;
  entries: Map<string, Entry>;
  /** The record that each idempotency key made. */
  keys: Map<string, string>;
};

export const emptyWorld = (tenantId: string, token: string): World => ({
  tenantId,
  token,
  disputes: new Map(),
  sequences: new Map(),
  codes: new Set(),
  entries: new Map(),
  keys: new Map(),
});

/** Begins the idempotency keys of these requests. */
export const KEY_MARK = "key ";

const STATUS: Record<Exclude<Change["kind"], "none">, number> = {
  create: 201,
  update: 200,
  delete: 204,
  note: 201,
  edit: 200,
  erase: 204,
};

export const expectedStatus = ({ change }: Deed): number =>
  change.kind === "none" ? change.status : STATUS[change.kind];

const DOCUMENTS = 30;
const pathOf = (world: World, rest = ""): string =>
  `/dispute/v1/tenants/${world.tenantId}/disputes${rest}`;

type Made = Pick<Deed, "method" | "path" | "body" | "action" | "change" | "key">;

const creation = (dice: Dice, world: World, mark: string): Made => {
  const sent = {
    amount: dice.whole(1, 1_000_000) / 100,
    accountNumber: `ACC-${dice.whole(1, 20)}`,
    documentNumber: `INV-${dice.whole(1, DOCUMENTS)}`,
    poNumber: mark,
  };
  return {
    method: "POST",
    path: pathOf(world),
    body: { ...sent, reasonCode: "WRONG" },
    action: "dispute.created",
    change: { kind: "create", mark, sent },
    ...(dice.chance(0.5) ? { key: `${KEY_MARK}${mark}` } : {}),
  };
};

/** Status moves to what is allowed next; an open one has its fields changed, too. */
const alteration = (
  dice: Dice,
  world: World,
  id: string,
  { shown }: Dispute,
  mark: string,
): Made => {
  const made = (body: Fields, told: Fields, action: string): Made => ({
    method: "PUT",
    path: pathOf(world, `/${id}`),
    body,
    action,
    change: { kind: "update", id, shown: told },
  });
  if (shown["status"] !== 0) {
    const told = { status: 0, closedDate: null, resolutionId: null, resolutionCode: null };
    return made({ status: 0 }, { ...told, isValid: false }, "dispute.reopened");
  }
  return dice.weigh<() => Made>([
    [
      () => {
        const fields = { amount: dice.whole(1, 1_000_000) / 100, poNumber: mark };
        return made(fields, fields, "dispute.updated");
      },
      5,
    ],
    [
      () => {
        const told = { status: 1, resolutionCode: "CREDIT", isValid: true };
        return made({ status: 1, resolutionCode: "credit" }, told, "dispute.closed");
      },
      2,
    ],
    [() => made({ status: "Cancel" }, { status: 2, resolutionId: null }, "dispute.canceled"), 1],
  ])();
};

const noteWork = (dice: Dice, world: World, id: string, notes: string[], mark: string): Made => {
  const path = pathOf(world, `/${id}/disputenotes`);
  const noteId = notes.length === 0 || dice.chance(0.6) ? undefined : dice.pick(notes);
  const body = { content: `${mark} \u00e9\u{1f600}` };
  if (noteId === undefined) {
    const change = { kind: "note", id, mark: body.content } as const;
    const key = dice.chance(0.5) ? { key: `${KEY_MARK}${mark}` } : {};
    return { method: "POST", path, body, action: "dispute_note.created", change, ...key };
  }
  if (dice.chance(0.6)) {
    const change = { kind: "edit", id, noteId, mark: body.content } as const;
    return {
      method: "PUT",
      path: `${path}/${noteId}`,
      body,
      action: "dispute_note.updated",
      change,
    };
  }
  const change = { kind: "erase", id, noteId } as const;
  return { method: "DELETE", path: `${path}/${noteId}`, action: "dispute_note.deleted", change };
};

/** A request that is read-only or refused: it leaves an audit entry and nothing else. */
const harmless = (dice: Dice, world: World, id: string): Made => {
  const none = (status: number) => ({ kind: "none", status }) as const;
  const path = pathOf(world, `/${id}`);
  return dice.pick<Made>([
    { method: "GET", path, action: "dispute.read", change: none(200) },
    { method: "GET", path: pathOf(world, "/none"), action: "dispute.read", change: none(404) },
    {
      method: "PUT",
      path,
      body: { amount: -1, poNumber: "refused" },
      action: "dispute.updated",
      change: none(400),
    },
    {
      method: "PUT",
      path,
      body: { poNumber: "refused", resolutionCode: "NONE" },
      action: "dispute.updated",
      change: none(400),
    },
  ]);
};

const choose = (dice: Dice, world: World, own: readonly string[], mark: string): Made => {
  const id = own.length === 0 ? undefined : dice.pick(own);
  const known = id === undefined ? undefined : world.disputes.get(id);
  if (id === undefined || known === undefined) return creation(dice, world, mark);
  return dice.weigh<() => Made>([
    [() => creation(dice, world, mark), 30],
    [() => alteration(dice, world, id, known, mark), 35],
    [() => noteWork(dice, world, id, [...known.notes.keys()], mark), 25],
    [
      () => ({
        method: "DELETE",
        path: pathOf(world, `/${id}`),
        action: "dispute.deleted",
        change: { kind: "delete", id },
      }),
      5,
    ],
    [() => harmless(dice, world, id), 8],
  ])();
};

/** The next request of a client that works on its own disputes. */
export const nextDeed = (dice: Dice, world: World, own: readonly string[], mark: string): Deed =>
  withHeaders(world, { ...choose(dice, world, own, mark), tool: mark });

/** The request with its credential, its tool and its key. */
export const withHeaders = (world: World, deed: Omit<Deed, "headers">): Deed => ({
  ...deed,
  headers: {
    "X-Platform-Auth": world.token,
    "X-Platform-Mcp-Tool": deed.tool,
    ...(deed.key === undefined ? {} : { "Idempotency-Key": deed.key }),
  },
});

const disputeOf = (world: World, id: string): Dispute => {
  const known = world.disputes.get(id);
  if (known === undefined) throw new Error(`dispute ${id} is unknown to the test`);
  return known;
};

const addDispute = (world: World, id: string, shown: Fields, deed: Deed): void => {
  world.disputes.set(id, { shown, version: 1, notes: new Map() });
  const document = String(shown["documentNumber"]);
  world.sequences.set(document, (world.sequences.get(document) ?? 0) + 1);
  world.codes.add(String(shown["disputeCode"]));
  if (deed.key !== undefined) world.keys.set(deed.key, id);
};

/** Applies an executed request to the expected content; `made` is the response, or the known part of it. */
export const apply = (world: World, deed: Deed, made: Fields): void => {
  const { change, tool, method, action } = deed;
  world.entries.set(tool, { method, status: expectedStatus(deed), action });
  switch (change.kind) {
    case "none":
      return;
    case "create":
      addDispute(world, String(made["disputeId"]), made, deed);
      return;
    case "delete":
      world.disputes.delete(change.id);
      return;
    case "update": {
      const known = disputeOf(world, change.id);
      known.version += 1;
      known.shown = { ...known.shown, ...made };
      return;
    }
    case "note": {
      const id = String(made["disputeNoteId"]);
      disputeOf(world, change.id).notes.set(id, {
        content: change.mark,
        version: 1,
        answer: made["createDate"] === undefined ? undefined : made,
      });
      if (deed.key !== undefined) world.keys.set(deed.key, id);
      return;
    }
    case "edit": {
      const { notes } = disputeOf(world, change.id);
      const version = (notes.get(change.noteId)?.version ?? 0) + 1;
      const answer = made["createDate"] === undefined ? undefined : made;
      notes.set(change.noteId, { content: change.mark, version, answer });
      return;
    }
    case "erase":
      disputeOf(world, change.id).notes.delete(change.noteId);
  }
};

/** Keeps a client's list of its disputes after a request that was done. */
export const keepOwn = (own: string[], { change }: Deed, answer: Answer): void => {
  if (change.kind === "create") own.push(answer.body.disputeId);
  if (change.kind === "delete") own.splice(own.indexOf(change.id), 1);
};

/** The fields that the answer to a change must have. */
const dueFields = ({ change }: Deed): Fields => {
  if (change.kind === "create") return change.sent;
  return change.kind === "update" ? change.shown : {};
};

/** The request came back with an answer: it must be the one that was due, and holds from now on. */
export const acknowledge = (world: World, deed: Deed, answer: Answer): void => {
  const { accountName: _accountName, ...shown } = (answer.body ?? {}) as Fields;
  const isRight = Object.entries(dueFields(deed)).every(([name, value]) => shown[name] === value);
  if (answer.status !== expectedStatus(deed) || !isRight) {
    throw new Error(`${deed.method} ${deed.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  apply(world, deed, shown);
};

/**
 * Takes the answer to a request into account. Without one, or with 503, it was done or not: the check finds out, and
 * until then its client leaves the record alone.
 */
export const settleAnswer = (
  { world, unanswered }: { world: World; unanswered: Deed[] },
  own: string[],
  deed: Deed,
  answer: Answer | undefined,
): "acknowledged" | "uncertain" | "unavailable" => {
  if (answer === undefined || answer.status === 503) {
    unanswered.push(deed);
    if ("id" in deed.change) own.splice(own.indexOf(deed.change.id), 1);
    return answer === undefined ? "uncertain" : "unavailable";
  }
  acknowledge(world, deed, answer);
  keepOwn(own, deed, answer);
  return "acknowledged";
};
