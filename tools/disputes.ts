import { contract } from "../src/contract/index.ts";
import { type Arguments, quoted, tool } from "./tool.ts";

const { disputes: d, dispute_notes: notes } = contract;

const EMPTY = [undefined, null, ""];

const change = ([name, value]: [string, unknown]): string =>
  EMPTY.includes(value as string) ? `${name} cleared` : `${name} ${quoted(value)}`;

// Reopening asks nobody: it loses nothing that closing again does not bring back.
const ending = ({ disputeId, status, ...others }: Arguments): string | null => {
  if (status !== 1 && status !== 2) return null;
  const changes = Object.entries(others)
    .filter(([name]) => name !== "ifMatch")
    .map(change);
  const act = status === 1 ? "Close" : "Cancel";
  return `${act} dispute ${quoted(disputeId)}${changes.length === 0 ? "" : ` with ${changes.join(", ")}`}?`;
};

export const disputes = [
  tool(d.get),
  tool(d.list, "List disputes, newest first; as many as fit unless paged."),
  tool(d.create, "Open a dispute on a document of an account. Needs a reason, by id or code.", {
    title: "Open dispute",
  }),
  tool(
    d.update,
    "Change the fields sent. Closing takes a resolution; closing and canceling ask the person.",
    { confirm: ending },
  ),
  tool(d.delete, undefined, {
    confirm: ({ disputeId }) =>
      `Delete dispute ${quoted(disputeId)} and all its notes? This cannot be undone.`,
  }),
  tool(d.list_by_document_numbers),
  tool(d.list_by_ids),
  tool(notes.get),
  tool(notes.list),
  tool(notes.create, "Add a note to a dispute; Internal by default."),
  tool(notes.update),
  tool(notes.delete, undefined, {
    confirm: ({ noteId, disputeId }) =>
      `Delete note ${quoted(noteId)} of dispute ${quoted(disputeId)}? This cannot be undone.`,
  }),
];
