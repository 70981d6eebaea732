import type { Dice } from "../../support/dice.ts";
import { type Model, newModel, play, type Step } from "../../support/document-model.ts";
import type { Asked } from "../records.ts";
import type { TenantId } from "../settings.ts";

/** A document's model as plain data. */
type State = { exists: boolean; isOpen: boolean; kept: [string, number][] };

export type DocumentState = State;

export const noDocument: State = { exists: false, isOpen: false, kept: [] };

/** Every state in which a request may find a document, as far as it decides whether the request closes it. */
export const DOCUMENT_STATES: State[] = [
  noDocument,
  { exists: true, isOpen: true, kept: [] },
  { exists: true, isOpen: false, kept: [] },
];

/** Whether a change closes a document that was open or new. */
export const closes = (before: State, after: State): boolean =>
  (before.isOpen || !before.exists) && after.exists && !after.isOpen;

const toModel = ({ exists, isOpen, kept }: State): Model => ({
  ...newModel(),
  exists,
  isOpen,
  kept: new Map(kept),
});

const move = (before: State, step: Step): { status: number; after: State } => {
  const model = toModel(before);
  const status = play(model, step);
  const { exists, isOpen, kept } = model;
  return { status, after: { exists, isOpen, kept: [...kept].toSorted() } };
};

const shows: Asked<State>["shows"] = (body, { isOpen, kept }) =>
  body.status === (isOpen ? "open" : "closed") &&
  (body.closedAt !== undefined ||
    (kept.every(([name, amount]) => body[name] === amount) &&
      ["denomination", "denomination_in_base_currency"].every(
        (name) => kept.some(([known]) => known === name) || body[name] === undefined,
      )));

const METHODS = { post: "POST", put: "PUT", patch: "PATCH", close: "POST" };

const AMOUNTS = [{}, {}, { sent: null }, { sent: 0 }, { sent: 0 }, { sent: 12.5 }, { sent: -3 }];

export const readDocument = (number: string): Asked<State> => ({
  method: "GET",
  path: `/api/v1/ingest/documents/${number}`,
  as: "ingest",
  effect: (before) => ({ status: before.exists ? 200 : 404, after: before }),
  shows,
});

/** A request to one document: it is created, replaced, changed, closed or read. */
export const askDocument = (dice: Dice, number: string, tenantId: TenantId): Asked<State> => {
  if (dice.chance(0.2)) return readDocument(number);
  const step: Step = {
    act: dice.pick(["post", "put", "patch", "patch", "close", "close"] as const),
    denomination: dice.pick(AMOUNTS).sent,
    denomination_in_base_currency: dice.pick(AMOUNTS).sent,
  };
  const { act, ...amounts } = step;
  const whole = {
    account_number: `${tenantId}-1`,
    invoice_date: "2026-01-05",
    due_date: "2026-02-05",
    comment: `a document of ${tenantId}`,
  };
  return {
    method: METHODS[act],
    path: `/api/v1/ingest/documents/${number}${act === "close" ? "/closure" : ""}`,
    as: "ingest",
    body:
      act === "close"
        ? { closure_reason: "paid" }
        : { ...(act === "patch" ? {} : whole), ...amounts },
    effect: (before) => move(before, step),
    shows,
  };
};
