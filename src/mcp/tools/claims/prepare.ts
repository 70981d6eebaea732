/** Prepares claims for the question about them: bodies of requests, lines of the table, faults. */
import { hash } from "node:crypto";
import pMap from "p-map";
import { type Fault, Problem } from "../../../contract/errors.ts";
import { nameDryRun, toDryRun } from "../../../contract/dry-run.ts";
import { contract } from "../../../contract/index.ts";
import type { ArgsOf } from "../../../contract/operation.ts";
import type { Clock } from "../../../kit/clock.ts";
import { omitUndefined } from "../../../kit/json.ts";
import type { Reason } from "../../../contract/operations/reasons.ts";
import type { Claim } from "../../../../tools/dispute-operations.ts";
import { describeEntry, formatMoney, formatName, quote } from "../../../../tools/formatting.ts";
import { sanitizeLine } from "../../results/sanitize.ts";
import { MAX_QUESTION, printOf } from "../asking/question.ts";
import { canonical } from "../binding.ts";
import type { Working } from "../tool-context.ts";
import { compareClaim, findKnown, type Known, listEqualDisputes } from "./check.ts";
import { type Facts, readFacts, readNotes } from "./facts.ts";
import type { Ledger, OpenedClaim } from "./ledger.ts";
import { bindReasons } from "./reasons.ts";
import { REFERENCES, toNote } from "./references.ts";

const { create } = contract.disputes;
const AT_ONCE = 8;

/** A claim that was checked. */
export type PreparedClaim = {
  /** Position in the call, from 0. */
  place: number;
  /** Names the claim in the ledger, and its request at the platform. */
  key: string;
  body: ArgsOf<typeof create>;
  note: string | undefined;
  /** The dispute that an earlier call opened for this claim. */
  opened: OpenedClaim | undefined;
  /** Whether the note of the claim is still to be added. */
  isNoteDue: boolean;
  faults: readonly Fault[];
  line: string;
  /** Differs if anything that the line names differs. */
  print: string;
};

type Needs = {
  call: Working;
  now: Clock;
  ledger: Ledger;
  /** Separates equal claims that are meant to be opened again. */
  idempotencyKey: string | undefined;
};

/** `isLast`: the claims are opened next, so that the platform need not be asked before. */
type Check = { isLast: boolean };

/** Returns what makes two claims the same one: not the note, whose words may differ. */
const toIdentity = (
  { note: _note, currencyCode: _checked, ...claim }: Claim,
  { accountNumber, documentNumber }: Known,
) => canonical({ ...claim, accountNumber, documentNumber });

/** Returns the keys of claims; equal claims of one call have different ones. */
const toKeys = (
  { call: { broker, tool }, idempotencyKey }: Needs,
  all: readonly Known[],
): string[] => {
  const counts = new Map<string, number>();
  return all.map((known) => {
    const identity = toIdentity(known.claim, known);
    const count = counts.get(identity) ?? 0;
    counts.set(identity, count + 1);
    const parts = [tool.name, broker.tenantId, broker.principal, idempotencyKey, identity, count];
    return hash("sha256", JSON.stringify(parts), "base64url");
  });
};

export const toNoteKey = (key: string): string => `${key}-note`;

/** Returns the purchase order of the document where the claim has none. */
const choosePo = ({ claim, document }: Known) =>
  claim.poNumber === undefined ? document?.po_number : claim.poNumber;

const toBody = (known: Known, bound: Claim): ArgsOf<typeof create> => {
  const { note: _note, paymentId: _payment, debitMemo: _memo, ...disputed } = bound;
  const { currencyCode: _checked, ...fields } = disputed;
  const { accountNumber, documentNumber } = known;
  const { amount } = fields;
  return {
    ...omitUndefined({ ...fields, poNumber: choosePo(known) }),
    amount,
    accountNumber,
    documentNumber,
  };
};

const listReferences = ({ claim }: Known): string[] =>
  REFERENCES.flatMap((name) => {
    const value = claim[name];
    const noun = name === "paymentId" ? "payment" : "debit memo";
    return value === undefined ? [] : [`${noun} ${formatName(value)}`];
  });

const describeReason = ({ claim }: Known, shown: Reason | undefined): string => {
  const name =
    claim.reasonCode ?? claim.reasonId ?? claim.externalReasonCode ?? claim.externalReasonId;
  return `for ${describeEntry(shown, name)}`;
};

/** Describes a claim: `120.50 USD on INV-1 of Acme (C-1), for SHORT (Short shipped), payment P-1`. */
const describeClaim = (
  known: Known,
  { shown, body }: { shown: Reason | undefined; body: ArgsOf<typeof create> },
  doubts: readonly string[],
): string => {
  const { claim, accountNumber, accountName, documentNumber, currencyCode } = known;
  const account =
    accountName === null
      ? formatName(accountNumber)
      : `${formatName(accountName)} (${formatName(accountNumber)})`;
  const parts = [
    `${formatMoney(claim.amount, currencyCode ?? undefined)} on ${formatName(documentNumber)} of ${account}`,
    describeReason(known, shown),
    ...(body.poNumber == null ? [] : [`PO ${formatName(body.poNumber)}`]),
    ...listReferences(known),
    ...(body.assigneeId == null ? [] : [`assignee ${formatName(body.assigneeId)}`]),
  ];
  const doubt = doubts.length === 0 ? "" : ` [Doubt: ${doubts.join("; ")}]`;
  const note = claim.note === undefined ? "" : `, note ${quote(claim.note)}`;
  return `${parts.join(", ")}${doubt}${note}`;
};

/** Refusals that are not about one claim. */
const isGeneral = ({ status, code }: Problem): boolean =>
  status === 401 || status === 403 || status === 429 || status >= 500 || code === "unavailable";

/** Asks the platform what it would refuse a claim for; none where it has no dry runs. */
const rehearse = async (
  { tool, broker, signal }: Working,
  body: ArgsOf<typeof create>,
): Promise<readonly Fault[]> => {
  const offered = await broker.extensions(signal);
  if (!offered.has(nameDryRun(create))) return [];
  try {
    await broker.call(toDryRun(create), { ...body }, { tool: tool.name, signal });
    return [];
  } catch (error) {
    if (!(error instanceof Problem) || signal.aborted || isGeneral(error)) throw error;
    const { errors = [] } = error.details;
    return errors.length > 0
      ? errors
      : [{ field: "", code: error.code, message: error.message.replace(/\.$/, "") }];
  }
};

/** Joins the faults of the own checks and those of the platform, one for each field. */
const joinFaults = (own: readonly Fault[], platforms: readonly Fault[]): Fault[] => {
  const isNew = ({ field }: Fault): boolean => !own.some((one) => isSameField(one.field, field));
  return [...own, ...platforms.filter(isNew)];
};

/** The platform may name a reason by its id where the claim has its code. */
const isSameField = (one: string, other: string): boolean =>
  one === other || one.replace(/Code$/, "Id") === other.replace(/Code$/, "Id");

const toPlace = (place: number, { field, ...fault }: Fault): Fault => ({
  ...fault,
  field: field === "" ? `claims[${place}]` : `claims[${place}].${field}`,
});

/** Returns the disputes whose notes may name the reference of a claim. */
const listNoted = (all: readonly Known[]): string[] => [
  ...new Set(
    all
      .filter(({ claim }) => REFERENCES.some((name) => claim[name] !== undefined))
      .flatMap((known) => listEqualDisputes(known).map(({ disputeId }) => disputeId)),
  ),
];

/** Returns the version of a claim's document; its account is known by name and number. */
const versionOf = ({ claim }: Known, { documents }: Facts): string | undefined => {
  const part = documents.get(claim.documentNumber);
  return part?.refused === undefined ? part?.value.version : undefined;
};

/** Checks claims and prepares the question about them. @throws {Problem} a refusal that is not about one claim */
export const prepareClaims = async (
  needs: Needs,
  claims: readonly Claim[],
  { isLast }: Check,
): Promise<PreparedClaim[]> => {
  const { call, now, ledger } = needs;
  const facts = await readFacts(call, now, claims);
  const all = claims.map((claim) => findKnown(claim, facts));
  const keys = toKeys(needs, all);
  const notes = await readNotes(call, now, listNoted(all));
  return pMap(
    all,
    async (known, place): Promise<PreparedClaim> => {
      const key = keys[place] ?? "";
      const opened = await ledger.find(key);
      const note = toNote(known.claim);
      const { bound, shown } = bindReasons(known.claim, facts.reasons);
      const body = toBody(known, bound);
      const { faults, doubts } = compareClaim(all, place, { facts, notes });
      const platforms = opened === undefined && !isLast ? await rehearse(call, body) : [];
      const isNoteDue =
        note !== undefined && (opened === undefined || !(await ledger.has(toNoteKey(key))));
      const line = sanitizeLine(describeClaim(known, { shown, body }, doubts), MAX_QUESTION);
      return {
        place,
        key,
        body,
        note,
        opened,
        isNoteDue,
        faults:
          opened === undefined
            ? joinFaults(faults, platforms).map((fault) => toPlace(place, fault))
            : [],
        line,
        print: printOf(key, line, body, note, isNoteDue, versionOf(known, facts)),
      };
    },
    { concurrency: AT_ONCE },
  );
};
