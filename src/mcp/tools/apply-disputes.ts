import pMap from "p-map";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { contract } from "../../contract/index.ts";
import { type Fault, Problem } from "../../contract/errors.ts";
import type { Clock } from "../../kit/clock.ts";
import { omitUndefined } from "../../kit/json.ts";
import { checkTransition, describeUpdate, disputeEnding } from "../../../tools/dispute-change.ts";
import { defineTool } from "../../../tools/tool.ts";
import { present, recordAnswer } from "../results/answer.ts";
import { badArguments } from "../results/refusal.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import type { Given } from "./arguments.ts";
import type { Consented } from "./confirm.ts";
import { type Asking, prepareCall } from "./question.ts";
import { resolveNames } from "./record-names.ts";
import type { Working } from "./tool-context.ts";

type Fields = Record<string, unknown>;
type Change = { disputeId: string; change: Fields; ifMatch?: string };

/** A change that the platform is expected to accept. */
type Checked = { args: Fields; etag: string | null; disputeCode: string; line: string };

const { update } = contract.disputes;
const UPDATE_TOOL = defineTool(update, undefined, { confirm: disputeEnding });

const AT_ONCE = 8;
const MAX_LINE = 300;

const optionsOf = ({ tool, signal }: Working) => ({ tool: tool.name, signal });

/** @throws {Problem} if the platform would refuse the change */
const checkOne = async (
  call: Working,
  { disputeId, change, ifMatch }: Change,
  now: Clock,
): Promise<Checked> => {
  const { broker } = call;
  const options = optionsOf(call);
  const args = await resolveNames({ broker, options }, { disputeId, ...omitUndefined(change) });
  const context = { broker, tool: UPDATE_TOOL, args, options, now };
  const { etag, records } = await prepareCall(context, disputeEnding, ifMatch);
  const { dispute } = records;
  if (dispute !== undefined) checkTransition(args, dispute);
  const line = sanitizeLine(describeUpdate(args, records), MAX_LINE);
  return {
    args,
    etag: ifMatch ?? etag,
    disputeCode: String(dispute?.["disputeCode"] ?? disputeId),
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
const checkAll = async (call: Working, changes: readonly Change[], now: Clock) => {
  const check = async (change: Change, at: number) => {
    try {
      return await checkOne(call, change, now);
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

const toTable = (checked: readonly Checked[]): string =>
  [
    `Apply ${checked.length === 1 ? "1 change" : `${checked.length} changes`}?`,
    ...checked.map(({ line }, at) => `${at + 1}. ${line}`),
  ].join("\n");

/** Applies one change to the version that the person saw; a refusal becomes its outcome. */
const applyOne = async (
  call: Working,
  { args, etag, disputeCode }: Checked,
): Promise<Fields & { outcome: string }> => {
  const { disputeId } = args;
  try {
    await call.broker.call(update, args, { ...optionsOf(call), ifMatch: etag ?? undefined });
    return { disputeId, disputeCode, outcome: "applied" };
  } catch (error) {
    if (!(error instanceof Problem) || call.signal.aborted) throw error;
    const { code, message } = error;
    return { disputeId, disputeCode, outcome: "refused", code, message };
  }
};

const applyAll = async (call: Working, checked: readonly Checked[]): Promise<Fields> => {
  const results: (Fields & { outcome: string })[] = [];
  for (const [at, change] of checked.entries()) {
    // In the order of the table, one after the other.
    results.push(await applyOne(call, change));
    await call.progress(`${at + 1} of ${checked.length} changes are done.`);
  }
  const applied = results.filter(({ outcome }) => outcome === "applied").length;
  return { applied, refused: results.length - applied, results };
};

/** The versions in a question, as one etag: a confirmation holds for all of them. */
const Etags = {
  seal: (checked: readonly Checked[]): string => JSON.stringify(checked.map(({ etag }) => etag)),
  open: (etags: string | null): (string | null)[] =>
    etags === null ? [] : (JSON.parse(etags) as (string | null)[]),
};

export type Consent = (
  call: Working,
  given: Given,
  asking: () => Promise<Asking>,
) => Promise<Consented>;

/** Creates the tool that changes several disputes: all are checked, confirmed once and changed one by one. */
export const createApply =
  ({ consent, answerTokens, now }: { consent: Consent; answerTokens: number; now: Clock }) =>
  async (call: Working, given: Given): Promise<CallToolResult | InputRequiredResult> => {
    const { checked, faults } = await checkAll(call, given.args["changes"] as Change[], now);
    if (faults.length > 0) {
      const lines = faults.map(({ field, message }) => `${field} ${message}`);
      throw badArguments(`Nothing was changed: ${lines.join("; ")}.`, faults);
    }
    const consented = await consent(call, given, async () => ({
      summary: toTable(checked),
      etag: Etags.seal(checked),
      absent: false,
    }));
    if ("ask" in consented) return consented.ask;
    const etags = Etags.open(consented.etag);
    const seen = checked.map((one, at) => ({ ...one, etag: etags[at] ?? one.etag }));
    const output = await applyAll(call, seen);
    return present(recordAnswer(output, { answerTokens, etag: null }));
  };
