import { ageDays, type Move, nameOf, type Pair, reassignments } from "./analysis.ts";
import { Anything, type Picks, type Work } from "./look.ts";
import { type Configuration, Dispute, Note, type Resolution } from "./records.ts";
import { accountOf, count, dateOf, money, nobody } from "./words.ts";

const UNASSIGNED_FIRST = 4;

const departmentOf = ({ departments }: Configuration, { to }: Move): string =>
  departments.find(({ departmentId }) => departmentId === to.departmentId)?.description ?? "";

/** Gives the largest unassigned and all orphaned disputes to people who are there. */
export const reassign = async (
  { session, out }: Work,
  { unassigned, orphaned }: Picks,
  open: readonly Dispute[],
  known: Configuration,
): Promise<Move[]> => {
  out.begin("reassign", "Give them to people who are there");
  out.say(
    "Each goes to the department that works such claims, to the person with the fewest open ones.",
  );
  const chosen = [...unassigned.slice(0, UNASSIGNED_FIRST), ...orphaned];
  const moves = reassignments(chosen, open, known);
  const after: Dispute[] = [];
  for (const { dispute, to } of moves) {
    const change = { disputeId: dispute.disputeId, assigneeEmail: to.person.email };
    after.push(await session.call("disputes_update", change, Dispute));
  }
  const rows = moves.map((move, place) => ({
    code: move.dispute.disputeCode,
    amount: money(move.dispute),
    before: move.dispute.assigneeName ?? nobody,
    after: after[place]?.assigneeName ?? nobody,
    department: departmentOf(known, move),
  }));
  out.table(
    ["Dispute", "Amount", "Before", "After", "Department"],
    rows.map((row) => [row.code, row.amount, row.before, row.after, row.department]),
    [1],
  );
  const wrong = moves.find(({ to }, place) => after[place]?.assigneeId !== to.assigneeId);
  if (wrong !== undefined) throw new Error(`${wrong.dispute.disputeCode} was not reassigned`);
  out.result({ moves: rows });
  out.end();
  return moves;
};

const reasonFor = ({ dispute }: Move, now: number): string =>
  dispute.assigneeName === null
    ? `Had no owner for ${ageDays(dispute, now)} days.`
    : `${dispute.assigneeName} is inactive.`;

/** Tells the new owner why, and what is expected next. */
export const explain = async (
  { session, out, now }: Work,
  moves: readonly Move[],
): Promise<void> => {
  out.begin("notes", "Tell the new owners why");
  const written: Note[] = [];
  for (const move of moves) {
    const { dispute, to } = move;
    const content =
      `${reasonFor(move, now)} Assigned to ${nameOf(to)}: ${money(dispute)}, ` +
      `${dispute.reasonName.toLowerCase()}. Please answer the customer or say what is missing.`;
    const note = { disputeId: dispute.disputeId, content };
    written.push(await session.call("dispute_notes_create", note, Note));
  }
  const [first] = written;
  if (first !== undefined) out.quote("The first one:", first.content);
  out.result({ notes: written.length });
  out.end();
};

const showNotes = ({ out }: Work, dispute: Dispute, notes: readonly Note[]): void => {
  out.say(
    `${dispute.disputeCode}, ${dateOf(dispute.createDate)}, ${dispute.assigneeName ?? nobody}, ` +
      `${count(notes.length, "note")}.`,
  );
  for (const { createDate, content } of notes) out.quote(dateOf(createDate), content);
};

// Resolutions are the tenant's own, so the fitting one is found by its words.
const duplicateResolution = ({ resolutions }: Configuration): Resolution => {
  const usable = resolutions.filter(({ active, isValid }) => active && !isValid);
  const found =
    usable.find(({ code, description }) => /duplicate/i.test(`${code} ${description}`)) ??
    usable[0];
  if (found === undefined) throw new Error("The tenant has no resolution for a wrong claim.");
  return found;
};

/** Closes the later of two equal claims, after the person has agreed. */
export const closeDuplicate = async (
  work: Work,
  pair: Pair | undefined,
  known: Configuration,
): Promise<Dispute> => {
  const { session, out } = work;
  out.begin("close-duplicate", "Close a claim that was entered twice");
  if (pair === undefined) throw new Error("There is no duplicate among the open disputes.");
  const { kept, again } = pair;
  out.say(
    `${accountOf(kept)}, document ${kept.documentNumber}, ${kept.reasonName.toLowerCase()}, ` +
      `${money(kept)}, twice:`,
  );
  for (const dispute of [kept, again]) {
    const { disputeId } = dispute;
    const { items } = await session.all(
      "dispute_notes_list",
      { disputeId, Sort: "CreateDate" },
      Note,
    );
    showNotes(work, dispute, items);
  }
  const resolution = duplicateResolution(known);
  const closing = { disputeId: again.disputeId, status: 1, resolutionCode: resolution.code };
  await session.call("disputes_update", closing, Anything);
  const content = `${again.disputeCode} was the same claim and is closed as ${resolution.code}.`;
  await session.call("dispute_notes_create", { disputeId: kept.disputeId, content }, Note);
  const closed = await session.call("disputes_get", { disputeId: again.disputeId }, Dispute);
  if (closed.status !== 1) throw new Error(`${closed.disputeCode} is not closed`);
  out.say(
    `${closed.disputeCode} is closed as ${closed.resolutionCode}; ${kept.disputeCode} stays.`,
  );
  out.result({ kept: kept.disputeCode, closed: closed.disputeCode, resolution: resolution.code });
  out.end();
  return closed;
};
