import type { Dice } from "../../support/dice.ts";
import type { Asked, Tracked } from "../records.ts";
import type { TenantId } from "../settings.ts";

/** The text of a note of a dispute; null: there is no such note. */
type State = { content: string | null };

export type TrackedNote = Tracked<State> & { id?: string };

export const noDisputeNote: State = { content: null };

const pathOf = (tenantId: TenantId, disputeId: string, id = ""): string =>
  `/dispute/v1/tenants/${tenantId}/disputes/${disputeId}/disputenotes${id === "" ? "" : `/${id}`}`;

const shows: Asked<State>["shows"] = (body, { content }) => body.content === content;

export const createNote = (note: TrackedNote, disputeId: string): Asked<State> => ({
  method: "POST",
  path: pathOf(note.tenantId, disputeId),
  as: "gateway",
  body: { content: note.name },
  effect: () => ({ status: 201, after: { content: note.name } }),
  shows,
  learn(body) {
    note.id = body.disputeNoteId;
  },
});

export const readNote = ({ tenantId, id }: TrackedNote, disputeId: string): Asked<State> => ({
  method: "GET",
  path: pathOf(tenantId, disputeId, id),
  as: "gateway",
  effect: (before) => ({ status: before.content === null ? 404 : 200, after: before }),
  shows,
});

/** A request to a note whose id is known. */
export const askNote = (dice: Dice, note: TrackedNote, disputeId: string): Asked<State> => {
  const read = readNote(note, disputeId);
  const method = dice.pick(["GET", "PUT", "PUT", "DELETE"]);
  if (method === "GET") return read;
  const content = method === "PUT" ? `${note.name} ${dice.whole(1, 99)}` : null;
  return {
    ...read,
    method,
    ...(content === null ? {} : { body: { content } }),
    effect: (before) =>
      before.content === null
        ? { status: 404, after: before }
        : { status: content === null ? 204 : 200, after: { content } },
  };
};
