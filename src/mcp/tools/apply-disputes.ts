import { hash } from "node:crypto";
import pMap from "p-map";
import { z } from "zod";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { ConfirmationWay } from "../../contract/confirmation.ts";
import { contract } from "../../contract/index.ts";
import type { CallArguments, Operation } from "../../contract/operation.ts";
import { type Fault, Problem } from "../../contract/errors.ts";
import { auditFields } from "../../contract/fields.ts";
import { isRecord, omitUndefined } from "../../kit/json.ts";
import { describeUpdate, disputeEnding } from "../../../tools/dispute-change.ts";
import {
  type applyChanges,
  type AppliedChanges,
  MAX_CHANGES,
} from "../../../tools/dispute-operations.ts";
import type { DisputeFilters } from "../../contract/insights/dispute-filters.ts";
import { quote } from "../../../tools/formatting.ts";
import { defineTool } from "../../../tools/tool.ts";
import { addNote } from "./add-note.ts";
import { present, recordAnswer } from "../results/answer.ts";
import { badArguments } from "../results/refusal.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { formOf } from "../results/record-form.ts";
import type { Given } from "./arguments/arguments.ts";
import type { Consented } from "./asking/confirm.ts";
import { type Asking, MAX_QUESTION, ONE_BY_ONE, prepareCall, printOf } from "./asking/question.ts";
import { type Bound, toBound, withBound } from "./asking/bound.ts";
import { readBound } from "./asking/leave.ts";
import { resolveNames } from "./arguments/record-names.ts";
import { findHits } from "./matching-hits.ts";
import type { ToolContext, Working } from "./tool-context.ts";

type Fields = Record<string, unknown>;
type Change = {
  disputeId: string;
  change: Partial<NonNullable<AppliedChanges["change"]>>;
  note?: string | undefined;
  ifMatch?: string | undefined;
};

/** A change that the platform is expected to accept; `print` is that of everything that its line names. */
type Checked = {
  /** The change as it was sent, and with ids in place of codes. */
  sent: CallArguments;
  args: CallArguments;
  etag: string | null;
  disputeCode: string;
  note: string | undefined;
  /** The dispute before the change. */
  before: Fields;
  line: string;
  print: string;
};

/** `hasChanged`: a record that its line named has changed since the question. */
type Confirmed = Checked & { hasChanged: boolean };

const { update } = contract.disputes;
const UPDATE_TOOL = defineTool(update, undefined, { confirm: disputeEnding });

const NO_CHANGE = {} as NonNullable<AppliedChanges["change"]>;
const AT_ONCE = 8;
const CHANGED = "A record that the question named has changed since; this dispute was not changed.";

const optionsOf = ({ tool, signal }: Working) => ({ tool: tool.name, signal });

/** @throws {Problem} if the platform would refuse the change */
const checkOne = async (
  call: Working,
  { disputeId, change, note, ifMatch }: Change,
): Promise<Checked> => {
  const { broker } = call;
  const options = optionsOf(call);
  const sent = { disputeId, ...omitUndefined(change) };
  const args = await resolveNames({ broker, options }, sent);
  const context = { broker, tool: UPDATE_TOOL, args, options };
  const prepared = await prepareCall(context, disputeEnding, ifMatch);
  const { etag, records, versions } = prepared;
  const { dispute } = records;
  const noted = note === undefined ? "" : `, note ${quote(note)}`;
  const line = sanitizeLine(`${describeUpdate(args, records)}${noted}`, MAX_QUESTION);
  return {
    sent,
    note,
    args: prepared.args,
    etag: etag ?? ifMatch ?? null,
    print: printOf(line, prepared.args, note, versions),
    disputeCode: String(dispute?.["disputeCode"] ?? disputeId),
    before: dispute ?? {},
    line,
  };
};

/** The changes of a call, and the names by which refusals point at them. */
type Listed = { changes: readonly Change[]; nameOf: (at: number) => string };

/** Lists the changes of a call; those of `where` are one for each dispute that it finds. @throws {Problem} */
const listChanges = async (
  call: Working,
  context: Pick<ToolContext, "now" | "settings">,
  { changes, where, change = NO_CHANGE, note }: AppliedChanges,
): Promise<Listed> => {
  if (changes !== undefined) return { changes, nameOf: (at) => `changes[${at}]` };
  const filters: DisputeFilters = { ...where };
  const ids = await findHits(call, context, { filters, most: MAX_CHANGES });
  return {
    changes: ids.map((disputeId) => ({ disputeId, change, note })),
    nameOf: (at) => `change of dispute ${ids[at]}`,
  };
};

const toFault = (field: string, { code, message }: Problem): Fault => ({
  field,
  code,
  message: message.replace(/\.$/, ""),
});

const findRepeated = (checked: readonly Checked[], { nameOf }: Listed): Fault[] => {
  const ids = checked.map(({ args }) => args["disputeId"]);
  return ids.flatMap((id, at) =>
    ids.indexOf(id) === at
      ? []
      : [{ field: nameOf(at), code: "repeated", message: "names a dispute again" }],
  );
};

/** Checks every change, so that all faults are named at once. */
const checkAll = async (call: Working, listed: Listed) => {
  const check = async (change: Change, at: number) => {
    try {
      return await checkOne(call, change);
    } catch (error) {
      if (!(error instanceof Problem) || call.signal.aborted) throw error;
      return toFault(listed.nameOf(at), error);
    }
  };
  const results = await pMap(listed.changes, check, { concurrency: AT_ONCE });
  const checked = results.flatMap((result) => ("line" in result ? [result] : []));
  const faults = results.flatMap((result) => ("line" in result ? [] : [result]));
  return { checked, faults: faults.length > 0 ? faults : findRepeated(checked, listed) };
};

/** @throws {Problem} invalid_request, which names every fault */
const checkChanges = async (call: Working, listed: Listed): Promise<readonly Checked[]> => {
  const { checked, faults } = await checkAll(call, listed);
  if (faults.length === 0) return checked;
  const lines = faults.map(({ field, message }) => `${field} ${message}`);
  throw badArguments(`Nothing was changed: ${lines.join("; ")}.`, faults);
};

const toTable = (checked: readonly Checked[]): string =>
  [
    `Apply ${checked.length === 1 ? "1 change" : `${checked.length} changes`}?`,
    ...checked.map(({ line }, at) => `${at + 1}. ${line}`),
  ].join("\n");

/** The outcome for one dispute, with its new values in full and in short. */
type Outcome = { result: Fields & { outcome: string }; values?: Fields; changed?: Fields };

/** The fields of a dispute beside its id and code, as lists show them. */
const ROW_FIELDS = (contract.disputes.list.list?.defaultFields ?? []).filter(
  (name) => name !== "disputeId" && name !== "disputeCode",
);

const isShown = ([name, value]: [string, unknown]): boolean =>
  ROW_FIELDS.includes(name) && value !== null;

/** Returns the values that a list shows of a dispute beside its id and code. */
export const toRow = (output: Fields): Fields =>
  Object.fromEntries(Object.entries(formOf(update)(output)).filter(isShown));

/** Returns the values that a list shows of a dispute, and those that a change made different. */
const toNewValues = (before: Fields, output: unknown): Pick<Outcome, "values" | "changed"> => {
  if (!isRecord(output)) return {};
  const after = Object.entries(formOf(update)(output));
  const isChanged = ([name]: [string, unknown]): boolean =>
    output[name] !== before[name] && !Object.hasOwn(auditFields, name);
  return {
    values: Object.fromEntries(after.filter((one) => isShown(one) || isChanged(one))),
    changed: Object.fromEntries(after.filter(isChanged)),
  };
};

/** Adds the note of a change. A repeated request with the version that the change has made adds it once. */
const addNoteTo = async (
  call: Working,
  { note: content, args }: Checked,
  { confirmedBy, version }: { confirmedBy: ConfirmationWay; version: string | null },
): Promise<Fields> => {
  if (content === undefined) return {};
  const disputeId = String(args["disputeId"]);
  const idempotencyKey = hash("sha256", JSON.stringify([disputeId, version, content]), "base64url");
  return addNote(call, confirmedBy, { disputeId, content, idempotencyKey });
};

/** Applies one change to the version that the person saw; a refusal becomes its outcome. */
const applyOne = async (
  call: Working,
  one: Confirmed,
  confirmedBy: ConfirmationWay,
): Promise<Outcome> => {
  const { args, etag, disputeCode, before } = one;
  const { disputeId } = args;
  const refuse = (code: string, message: string): Outcome => ({
    result: { disputeId, disputeCode, outcome: "refused", code, message },
  });
  if (one.hasChanged) return refuse("precondition_failed", CHANGED);
  const options = { ...optionsOf(call), confirmedBy, ifMatch: etag ?? undefined };
  try {
    const { output, etag: version } = await call.broker.call<Operation>(update, args, options);
    const noted = await addNoteTo(call, one, { confirmedBy, version });
    const result = { disputeId, disputeCode, outcome: "applied", ...noted };
    return {
      result: version === null ? result : { ...result, etag: version },
      ...toNewValues(before, output),
    };
  } catch (error) {
    if (!(error instanceof Problem) || call.signal.aborted) throw error;
    return refuse(error.code, error.message);
  }
};

const applyAll = async (
  call: Working,
  confirmed: readonly Confirmed[],
  confirmedBy: ConfirmationWay,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const [at, change] of confirmed.entries()) {
    // In the order of the table, one after the other.
    outcomes.push(await applyOne(call, change, confirmedBy));
    await call.progress(`${at + 1} of ${confirmed.length} changes are done.`);
  }
  return outcomes;
};

/** Reports each outcome with the new values of the dispute; in short, those that changed. */
const toReport = (outcomes: readonly Outcome[], part: "values" | "changed"): Fields => {
  const applied = outcomes.filter(({ result }) => result.outcome === "applied").length;
  const results = outcomes.map(({ result, [part]: dispute }) =>
    dispute === undefined ? result : { ...result, dispute },
  );
  return { applied, refused: results.length - applied, results };
};

const BoundChanges = z.object({
  changes: z.array(
    z.tuple([z.string(), z.string().nullable(), z.record(z.string(), z.unknown()), z.string()]),
  ),
});
type BoundChange = z.infer<typeof BoundChanges>["changes"][number];

/** Returns the dispute, the version, the ids and the print of a change, which a confirmation holds for. */
const toBoundChange = ({ etag, sent, args, print }: Checked): BoundChange => [
  String(args["disputeId"]),
  etag,
  toBound(sent, args),
  print,
];

/** Returns the changes that were confirmed. A dispute that the filters select no more is checked once again. */
const selectConfirmed = async (
  call: Working,
  { where, change = NO_CHANGE, note }: AppliedChanges,
  { checked, bound }: { checked: readonly Checked[]; bound: Bound },
): Promise<Confirmed[]> => {
  const select = async (
    [disputeId, etag, ids, print]: BoundChange,
    at: number,
  ): Promise<Confirmed> => {
    const found =
      where === undefined
        ? checked[at]
        : checked.find(({ args }) => args["disputeId"] === disputeId);
    const one = found ?? (await checkOne(call, { disputeId, change, note }));
    return { ...one, etag, args: withBound(one.sent, ids), hasChanged: one.print !== print };
  };
  return pMap(readBound(BoundChanges, bound).changes, select, { concurrency: AT_ONCE });
};

export type Consent = (
  call: Working,
  given: Given,
  asking: () => Promise<Asking>,
) => Promise<Consented>;

type Needs = { consent: Consent; context: Pick<ToolContext, "now" | "settings"> };

/** Creates the tool that changes several disputes: all are checked, confirmed once and changed one by one. */
export const createApply =
  ({ consent, context }: Needs) =>
  async (
    call: Working,
    given: Given<typeof applyChanges>,
  ): Promise<CallToolResult | InputRequiredResult> => {
    // The body was parsed, so that filters and change have their final form.
    const args = given.args as AppliedChanges;
    const check = async () => checkChanges(call, await listChanges(call, context, args));
    let checked = await check();
    let isAsked = false;
    const consented = await consent(call, given, async () => {
      isAsked = true;
      const bound = { changes: checked.map(toBoundChange) };
      return { summary: toTable(checked), etag: null, absent: false, bound, print: ONE_BY_ONE };
    });
    if ("ask" in consented) return consented.ask;
    // The person has answered during this call: read again.
    if (isAsked) checked = await check();
    const { bound, confirmedBy } = consented;
    const confirmed = await selectConfirmed(call, args, { checked, bound });
    const outcomes = await applyAll(call, confirmed, confirmedBy);
    const brief = { shorten: () => toReport(outcomes, "changed") };
    const limits = { answerTokens: context.settings.answerTokens, etag: null, brief };
    return present(recordAnswer(toReport(outcomes, "values"), limits));
  };
