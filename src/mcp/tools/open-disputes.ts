import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import pMap from "p-map";
import { z } from "zod";
import type { ConfirmationWay } from "../../contract/confirmation.ts";
import { type Fault, Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { MINUTE } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import { systemWait } from "../../kit/wait.ts";
import { readDisputes } from "../../insights/read-disputes.ts";
import type { Claim, openClaims } from "../../../tools/dispute-operations.ts";
import { formatName } from "../../../tools/formatting.ts";
import { present, recordAnswer } from "../results/answer.ts";
import { badArguments } from "../results/refusal.ts";
import { addNote } from "./add-note.ts";
import { type Consent, toRow } from "./apply-disputes.ts";
import type { Given } from "./arguments/arguments.ts";
import { resolveNames } from "./arguments/record-names.ts";
import { type Asking, ONE_BY_ONE } from "./asking/question.ts";
import { readBound } from "./asking/leave.ts";
import {
  createLedger,
  type EarlierAttempt,
  type Ledger,
  type OpenedClaim,
} from "./claims/ledger.ts";
import { type PreparedClaim, prepareClaims, toNoteKey } from "./claims/prepare.ts";
import { toReading } from "./reading.ts";
import type { ToolContext, Working } from "./tool-context.ts";

const { create } = contract.disputes;

const AT_ONCE = 8;

type Fields = Record<string, unknown>;
type Prepare = (isLast: boolean) => Promise<PreparedClaim[]>;

/** The outcome for one claim, with the values of its dispute. */
type Outcome = { result: Fields & { outcome: string }; dispute?: Fields };

type Opening = {
  call: Working;
  now: ToolContext["now"];
  ledger: Ledger;
  confirmedBy: ConfirmationWay;
};

const describeFaults = (faults: readonly Fault[]): string =>
  faults.map(({ field, message }) => `${field} ${message}`).join("; ");

/** @throws {Problem} invalid_request, which names every fault of every claim */
const requireFaultless = (prepared: readonly PreparedClaim[]): void => {
  const faults = prepared.flatMap((one) => one.faults);
  if (faults.length === 0) return;
  throw badArguments(`Nothing was opened: ${describeFaults(faults)}.`, faults);
};

const describeOne = ({ opened, isNoteDue, line, place }: PreparedClaim): string => {
  if (opened === undefined) return `${place + 1}. ${line}`;
  const note = isNoteDue ? "; its note is added" : "; nothing is done";
  return `${place + 1}. Already opened as ${formatName(opened.disputeCode)}${note}`;
};

/** Returns the table that a person confirms; null if there is nothing left to do. */
const toTable = (prepared: readonly PreparedClaim[]): string | null => {
  if (prepared.every(({ opened, isNoteDue }) => opened !== undefined && !isNoteDue)) return null;
  const count = prepared.filter(({ opened }) => opened === undefined).length;
  return [
    `Open ${count === 1 ? "1 dispute" : `${count} disputes`}?`,
    ...prepared.map(describeOne),
  ].join("\n");
};

const toOpened = ({ disputeId, disputeCode }: OpenedClaim): Outcome => ({
  result: { outcome: "opened before", disputeId, disputeCode },
});

const toRefused = (code: string, message: string): Outcome => ({
  result: { outcome: "refused", code, message },
});

/** Finds the dispute that an earlier attempt, whose outcome is not known, has opened. */
const findAttempted = async (
  { call, now }: Opening,
  { body }: PreparedClaim,
  { startedAt }: EarlierAttempt,
): Promise<OpenedClaim | undefined> => {
  let found: OpenedClaim | undefined;
  const { accountNumber: AccountNumber, documentNumber: DocumentNumber } = body;
  await readDisputes(await toReading(call, now), { AccountNumber, DocumentNumber }, (rows) => {
    found ??= rows.find(
      (one) =>
        one.documentNumber === DocumentNumber &&
        one.amount === body.amount &&
        // The clocks of both servers may differ.
        Date.parse(one.createDate) >= startedAt - MINUTE,
    );
  });
  return found;
};

const UNKNOWN_OUTCOME =
  "An earlier call may still be opening this claim. Repeat the call in two minutes; it opens nothing twice.";

/** Whether the platform may have acted, and does not recognize the request if it is sent again. */
const isUnknown = ({ details: { uncertain, idempotencyKey } }: Problem): boolean =>
  uncertain === true && idempotencyKey === undefined;

const createOne = async (
  { call, ledger, confirmedBy }: Opening,
  { key, body }: PreparedClaim,
): Promise<Outcome> => {
  const { tool, broker, signal } = call;
  const options = { tool: tool.name, signal, confirmedBy, idempotencyKey: key };
  try {
    const { output, etag } = await broker.call(create, body, options);
    const { disputeId, disputeCode } = output;
    await ledger.store(key, { disputeId, disputeCode });
    const version = etag === null ? {} : { etag };
    return {
      result: { outcome: "opened", disputeId, disputeCode, ...version },
      ...(isRecord(output) ? { dispute: toRow(output) } : {}),
    };
  } catch (error) {
    if (!(error instanceof Problem) || !isUnknown(error)) await ledger.release(key);
    if (!(error instanceof Problem) || signal.aborted) throw error;
    const { code, message } = error;
    return toRefused(code, message);
  }
};

/** Opens the dispute of a claim, unless another call has opened it. */
const openOne = async (opening: Opening, one: PreparedClaim): Promise<Outcome> => {
  const { ledger, call } = opening;
  if (one.opened !== undefined) return toOpened(one.opened);
  const earlier = await ledger.begin(one.key, call.signal);
  if (earlier === undefined) return createOne(opening, one);
  if ("disputeId" in earlier) return toOpened(earlier);
  const found = await findAttempted(opening, one, earlier);
  if (found !== undefined) {
    await ledger.store(one.key, found);
    return toOpened(found);
  }
  return earlier.isOver ? createOne(opening, one) : toRefused("unavailable", UNKNOWN_OUTCOME);
};

/** Adds the note of a claim to its dispute, once. */
const addNoteOnce = async (
  { call, ledger, confirmedBy }: Opening,
  { key, note: content, isNoteDue }: PreparedClaim,
  outcome: Outcome,
): Promise<Outcome> => {
  const { disputeId } = outcome.result;
  if (content === undefined || !isNoteDue || typeof disputeId !== "string") return outcome;
  const idempotencyKey = toNoteKey(key);
  if (await ledger.has(idempotencyKey)) return outcome;
  const added = await addNote(call, confirmedBy, { disputeId, content, idempotencyKey });
  if (added.note === "added") await ledger.mark(idempotencyKey);
  return { ...outcome, result: { ...outcome.result, ...added } };
};

/** Carries out one claim if it is still the one that the person saw. */
const carryOut = async (
  opening: Opening,
  one: PreparedClaim,
  print: string | undefined,
): Promise<Outcome> => {
  const { faults } = one;
  const [first] = faults;
  if (first !== undefined) return toRefused(first.code, `${describeFaults(faults)}.`);
  if (one.print !== print && one.opened === undefined) {
    return toRefused(
      "precondition_failed",
      "A record that the question named has changed since; this claim was not opened.",
    );
  }
  return addNoteOnce(opening, one, await openOne(opening, one));
};

const carryOutAll = async (
  opening: Opening,
  prepared: readonly PreparedClaim[],
  prints: readonly string[],
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const one of prepared) {
    // In the order of the table, one after the other.
    outcomes.push(await carryOut(opening, one, prints[one.place]));
    await opening.call.progress(`${outcomes.length} of ${prepared.length} claims are done.`);
  }
  return outcomes;
};

/** Reports each outcome; in short, without the values of the disputes. */
const toReport = (outcomes: readonly Outcome[], isBrief: boolean): Fields => {
  const count = (name: string): number =>
    outcomes.filter(({ result }) => result.outcome === name).length;
  return {
    opened: count("opened"),
    openedBefore: count("opened before"),
    refused: count("refused"),
    results: outcomes.map(({ result, dispute }, place) => ({
      claim: place + 1,
      ...result,
      ...(dispute === undefined || isBrief ? {} : { dispute }),
    })),
  };
};

const BoundClaims = z.object({ prints: z.array(z.string()) });

/** Returns the claims with ids of the configuration in place of codes where an argument takes both. */
const resolveClaims = (call: Working, claims: readonly Claim[]): Promise<Claim[]> => {
  const { broker, tool, signal } = call;
  const context = { broker, options: { tool: tool.name, signal } };
  const resolve = async (claim: Claim): Promise<Claim> => ({
    ...claim,
    ...(await resolveNames(context, claim)),
  });
  return pMap(claims, resolve, { concurrency: AT_ONCE });
};

type Needs = { consent: Consent; context: ToolContext };

/** Creates the tool that opens claims as disputes: all are checked, confirmed once and opened one by one. */
export const createOpen = ({ consent, context }: Needs) => {
  const { replayGuard, now, settings, wait = systemWait } = context;
  const ledger = createLedger({ replayGuard, now, wait });
  return async (
    call: Working,
    given: Given<typeof openClaims>,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const claims = await resolveClaims(call, given.args.claims as Claim[]);
    const { idempotencyKey } = given;
    const prepare: Prepare = (isLast) =>
      prepareClaims({ call, now, ledger, idempotencyKey }, claims, { isLast });
    const consented = await consent(call, given, async (): Promise<Asking> => {
      const prepared = await prepare(false);
      requireFaultless(prepared);
      const prints = prepared.map(({ print }) => print);
      const bound = { prints };
      return {
        summary: toTable(prepared),
        etag: null,
        absent: false,
        bound,
        print: ONE_BY_ONE,
      };
    });
    if ("ask" in consented) return consented.ask;
    const { prints } = readBound(BoundClaims, consented.bound);
    const opening = { call, now, ledger, confirmedBy: consented.confirmedBy };
    // Read again: what the person saw is what is done.
    const outcomes = await carryOutAll(opening, await prepare(true), prints);
    const brief = { shorten: () => toReport(outcomes, true) };
    const limits = { answerTokens: settings.answerTokens, etag: null, brief };
    return present(recordAnswer(toReport(outcomes, false), limits));
  };
};
