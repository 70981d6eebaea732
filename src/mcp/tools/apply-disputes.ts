import pMap from "p-map";
import { z } from "zod";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import type { ConfirmationWay } from "../../contract/confirmation.ts";
import { contract } from "../../contract/index.ts";
import type { ArgsOf, CallArguments, Operation } from "../../contract/operation.ts";
import { type Fault, Problem } from "../../contract/errors.ts";
import { auditFields } from "../../contract/fields.ts";
import { isRecord, omitUndefined } from "../../kit/json.ts";
import { describeUpdate, disputeEnding } from "../../../tools/dispute-change.ts";
import type { applyChanges } from "../../../tools/dispute-operations.ts";
import { defineTool } from "../../../tools/tool.ts";
import { present, recordAnswer } from "../results/answer.ts";
import { badArguments } from "../results/refusal.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { wordsFor } from "../results/status-words.ts";
import type { Given } from "./arguments/arguments.ts";
import type { Consented } from "./asking/confirm.ts";
import { type Asking, prepareCall, printOf } from "./asking/question.ts";
import { type Bound, toBound, withBound } from "./asking/bound.ts";
import { resolveNames } from "./arguments/record-names.ts";
import type { Working } from "./tool-context.ts";

type Fields = Record<string, unknown>;
type Change = ArgsOf<typeof applyChanges>["changes"][number];

/** A change that the platform is expected to accept; `print` is that of everything that its line names. */
type Checked = {
  /** The change as it was sent, and with ids in place of codes. */
  sent: CallArguments;
  args: CallArguments;
  etag: string | null;
  disputeCode: string;
  /** The dispute before the change. */
  before: Fields;
  line: string;
  print: string;
};

const { update } = contract.disputes;
const UPDATE_TOOL = defineTool(update, undefined, { confirm: disputeEnding });

const AT_ONCE = 8;
const MAX_LINE = 300;

const optionsOf = ({ tool, signal }: Working) => ({ tool: tool.name, signal });

/** @throws {Problem} if the platform would refuse the change */
const checkOne = async (
  call: Working,
  { disputeId, change, ifMatch }: Change,
): Promise<Checked> => {
  const { broker } = call;
  const options = optionsOf(call);
  const sent = { disputeId, ...omitUndefined(change) };
  const args = await resolveNames({ broker, options }, sent);
  const context = { broker, tool: UPDATE_TOOL, args, options };
  const prepared = await prepareCall(context, disputeEnding, ifMatch);
  const { etag, records, versions } = prepared;
  const { dispute } = records;
  const line = sanitizeLine(describeUpdate(args, records), MAX_LINE);
  return {
    sent,
    args: prepared.args,
    etag: etag ?? ifMatch ?? null,
    print: printOf(line, prepared.args, versions),
    disputeCode: String(dispute?.["disputeCode"] ?? disputeId),
    before: dispute ?? {},
    line,
  };
};

const toFault = (at: number, { code, message }: Problem): Fault => ({
  field: `changes[${at}]`,
  code,
  message: message.replace(/\.$/, ""),
});

const findRepeated = (checked: readonly Checked[]): Fault[] => {
  const ids = checked.map(({ args }) => args["disputeId"]);
  return ids.flatMap((id, at) =>
    ids.indexOf(id) === at
      ? []
      : [{ field: `changes[${at}]`, code: "repeated", message: "names a dispute again" }],
  );
};

/** Checks every change, so that all faults are named at once. */
const checkAll = async (call: Working, changes: readonly Change[]) => {
  const check = async (change: Change, at: number) => {
    try {
      return await checkOne(call, change);
    } catch (error) {
      if (!(error instanceof Problem) || call.signal.aborted) throw error;
      return toFault(at, error);
    }
  };
  const results = await pMap(changes, check, { concurrency: AT_ONCE });
  const checked = results.flatMap((result) => ("line" in result ? [result] : []));
  const faults = results.flatMap((result) => ("line" in result ? [] : [result]));
  return { checked, faults: faults.length > 0 ? faults : findRepeated(checked) };
};

/** @throws {Problem} invalid_request, which names every fault */
const checkChanges = async (
  call: Working,
  changes: readonly Change[],
): Promise<readonly Checked[]> => {
  const { checked, faults } = await checkAll(call, changes);
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

const isAuditField = (name: string): boolean => Object.hasOwn(auditFields, name);

const isShown = ([name, value]: [string, unknown]): boolean =>
  ROW_FIELDS.includes(name) && value !== null;

/** Returns the values that a list shows of a dispute beside its id and code. */
export const toRow = (output: Fields): Fields =>
  Object.fromEntries(Object.entries(wordsFor(update)(output)).filter(isShown));

/** Returns the values that a list shows of a dispute, and those that a change made different. */
const toNewValues = (before: Fields, output: unknown): Pick<Outcome, "values" | "changed"> => {
  if (!isRecord(output)) return {};
  const after = Object.entries(wordsFor(update)(output));
  const isChanged = ([name]: [string, unknown]): boolean =>
    output[name] !== before[name] && !isAuditField(name);
  return {
    values: Object.fromEntries(after.filter((one) => isShown(one) || isChanged(one))),
    changed: Object.fromEntries(after.filter(isChanged)),
  };
};

/** Applies one change to the version that the person saw; a refusal becomes its outcome. */
const applyOne = async (
  call: Working,
  { args, etag, disputeCode, before }: Checked,
  confirmedBy: ConfirmationWay,
): Promise<Outcome> => {
  const { disputeId } = args;
  const options = { ...optionsOf(call), confirmedBy, ifMatch: etag ?? undefined };
  try {
    const { output, etag: version } = await call.broker.call<Operation>(update, args, options);
    const result = { disputeId, disputeCode, outcome: "applied" };
    return {
      result: version === null ? result : { ...result, etag: version },
      ...toNewValues(before, output),
    };
  } catch (error) {
    if (!(error instanceof Problem) || call.signal.aborted) throw error;
    const { code, message } = error;
    return { result: { disputeId, disputeCode, outcome: "refused", code, message } };
  }
};

const applyAll = async (
  call: Working,
  checked: readonly Checked[],
  confirmedBy: ConfirmationWay,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const [at, change] of checked.entries()) {
    // In the order of the table, one after the other.
    outcomes.push(await applyOne(call, change, confirmedBy));
    await call.progress(`${at + 1} of ${checked.length} changes are done.`);
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
  changes: z.array(z.tuple([z.string().nullable(), z.record(z.string(), z.unknown())])),
});

/** Returns the version and the ids of a change, which a confirmation holds for. */
const toBoundChange = ({ etag, sent, args }: Checked): [string | null, Bound] => [
  etag,
  toBound(sent, args),
];

const withBoundChanges = (checked: readonly Checked[], bound: Bound): Checked[] => {
  const { changes } = BoundChanges.parse(bound);
  return checked.map((one, at) => {
    const [etag, ids] = changes[at] ?? toBoundChange(one);
    return { ...one, etag, args: withBound(one.sent, ids) };
  });
};

export type Consent = (
  call: Working,
  given: Given,
  asking: () => Promise<Asking>,
) => Promise<Consented>;

/** Creates the tool that changes several disputes: all are checked, confirmed once and changed one by one. */
export const createApply =
  ({ consent, answerTokens }: { consent: Consent; answerTokens: number }) =>
  async (
    call: Working,
    given: Given<typeof applyChanges>,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const { changes } = given.args;
    let checked = await checkChanges(call, changes);
    let isFresh = true;
    const consented = await consent(call, given, async () => {
      // Read again after the answer.
      if (!isFresh) checked = await checkChanges(call, changes);
      isFresh = false;
      const print = printOf(checked.map((one) => one.print));
      const bound = { changes: checked.map(toBoundChange) };
      return { summary: toTable(checked), etag: null, absent: false, bound, print };
    });
    if ("ask" in consented) return consented.ask;
    const { bound, confirmedBy } = consented;
    const outcomes = await applyAll(call, withBoundChanges(checked, bound), confirmedBy);
    const brief = { shorten: () => toReport(outcomes, "changed") };
    const limits = { answerTokens, etag: null, brief };
    return present(recordAnswer(toReport(outcomes, "values"), limits));
  };
