import type { Choice } from "./choose.ts";
import type { Sent } from "./client.ts";
import { type DisputeState, endByClosure, type TrackedDispute } from "./kinds/disputes.ts";
import { closes, DOCUMENT_STATES, type DocumentState } from "./kinds/documents.ts";
import type { Population } from "./population.ts";
import type { Asked, Done } from "./records.ts";

type Judged = { choice: Choice; sent: Sent };

/** Whether a request has closed its document, for each state in which it may have found it. */
const listClosures = (
  { choice: { asked }, sent: { outcome } }: Judged,
  states: readonly DocumentState[],
): boolean[] => {
  const isLost = outcome.kind === "lost";
  const hasFailed = isLost ? outcome.applied === false : outcome.status >= 300;
  const isUnclear = isLost ? outcome.applied === undefined : outcome.status >= 500;
  if (hasFailed && !isUnclear) return [];
  const found = states.flatMap((before) => {
    const { status, after } = (asked as Asked<DocumentState>).effect(before);
    const isPossible = isLost || isUnclear ? status < 300 : status === outcome.status;
    return isPossible ? [closes(before, after)] : [];
  });
  return isUnclear ? [...found, false] : found;
};

/** Returns what documents that closed in a step do to their disputes: it acts on each like a further request. */
export const listCascades = (
  { documents, disputes }: Population,
  judged: readonly Judged[],
): [TrackedDispute, Done<DisputeState>][] =>
  documents.flatMap((document) => {
    const writes = judged.filter(
      ({ choice }) => choice.record === document && choice.asked.method !== "GET",
    );
    // Other writes of the step may have come first.
    const states = writes.length === 1 ? document.states : DOCUMENT_STATES;
    return writes.flatMap((write) => {
      const closures = listClosures(write, states);
      if (!closures.includes(true)) return [];
      const applied = closures.includes(false) ? undefined : true;
      return disputes
        .filter(({ documentNumber }) => documentNumber === document.name)
        .map((dispute): [TrackedDispute, Done<DisputeState>] => [
          dispute,
          { asked: endByClosure(dispute), outcome: { kind: "lost", applied }, text: "" },
        ]);
    });
  });
