import { contract } from "../src/contract/index.ts";
import {
  describeChange,
  describeDispute,
  formatMoney,
  formatName,
  formatValue,
  isText,
  listItems,
} from "./formatting.ts";
import type { Arguments, Confirmation, Records } from "./tool.ts";

const { disputes: d } = contract;

const CLOSED = 1;
const CANCELED = 2;
const ENDED: readonly unknown[] = [CLOSED, CANCELED];

/** Returns the resolution of the call, if it could be read. */
const findResolution = (
  { resolutionId }: Arguments,
  { resolution, resolutions }: Records,
): Arguments | undefined =>
  resolution ?? listItems(resolutions)?.find((one) => one["resolutionId"] === resolutionId);

const describeOutcome = (
  { status, isValid, resolutionId, resolutionCode }: Arguments,
  found: Arguments | undefined,
  dispute: Arguments | undefined,
): string => {
  const code = found?.["code"] ?? resolutionCode ?? resolutionId;
  if (isText(code)) return `, as ${formatName(code)}`;
  if (status !== CLOSED || isValid !== undefined) return "";
  const counts = dispute?.["isValid"] === true ? "valid" : "not valid";
  return `, without a resolution: it will count as ${counts}`;
};

const REASON_NAMES = ["reasonId", "reasonCode", "externalReasonId", "externalReasonCode"] as const;

const isSame = (one: unknown, other: unknown): boolean =>
  String(one).trim().toLowerCase() === String(other).trim().toLowerCase();

const emailOf = ({ person }: Arguments): unknown => (person as Arguments | undefined)?.["email"];

const VERBS: Readonly<Record<string, string>> = { 0: "Reopen", 1: "Close", 2: "Cancel" };

// Long texts come last, so that they alone are cut off where a question is too long.
const placeOf = ([name, value]: [string, unknown]): number =>
  name === "amount" ? 0 : 1 + (isText(value) ? value.length : 0);

/** The fields of a dispute that show what an argument replaces. */
const REPLACED: Readonly<Record<string, string>> = {
  poNumber: "poNumber",
  isValid: "isValid",
  reasonId: "reasonName",
  reasonCode: "reasonName",
  externalReasonId: "externalReasonName",
  externalReasonCode: "externalReasonName",
  assigneeId: "assigneeName",
  assigneeEmail: "assigneeName",
};

/** Returns the value of an argument as people know it: the code of a reason, the e-mail address of an assignee. */
const findShown = (name: string, value: unknown, { reasons, assignees }: Records): unknown => {
  const isId = (row: Arguments, id: string): boolean => row[id] === value;
  if (name === "assigneeId") {
    const found = listItems(assignees)?.find((row) => isId(row, "assigneeId"));
    return found === undefined ? value : emailOf(found);
  }
  if (name !== "reasonId" && name !== "externalReasonId") return value;
  return listItems(reasons)?.find((row) => isId(row, "reasonId"))?.["code"] ?? value;
};

/** Describes a change of a field with the value that it replaces: `amount 5.00 USD (was 7.50 USD)`. */
const describeReplacing = (name: string, value: unknown, records: Records): string => {
  const { dispute } = records;
  const currency = dispute?.["currencyCode"];
  const isAmount = name === "amount";
  const change = isAmount
    ? `amount ${formatMoney(value, currency)}`
    : describeChange(name, findShown(name, value, records));
  const former = dispute?.[isAmount ? "amount" : (REPLACED[name] ?? "")];
  if (former === undefined) return change;
  if (former === null || former === "") return `${change} (was empty)`;
  const shown = isAmount ? formatMoney(former, currency) : formatValue(former);
  return `${change} (was ${shown})`;
};

/** Describes an update: `Close dispute D-1-01 of Acme, 5.00 USD, as CREDIT, with poNumber cleared (was PO-1)`. */
export const describeUpdate = (args: Arguments, records: Records): string => {
  const { disputeId, status, resolutionCode: _code, resolutionId: _id, ...others } = args;
  const { dispute } = records;
  const isEnding = ENDED.includes(status);
  const outcome = isEnding ? describeOutcome(args, findResolution(args, records), dispute) : "";
  const verb = VERBS[String(status)] ?? "Update";
  const changes = Object.entries(others)
    .toSorted((one, other) => placeOf(one) - placeOf(other))
    .map(([name, value]) => describeReplacing(name, value, records));
  const more = changes.length === 0 ? "" : `, with ${changes.join(", ")}`;
  return `${verb} dispute ${describeDispute(dispute, disputeId)}${outcome}${more}`;
};

/** Returns the id of the only row that is sought; undefined if there are several, or none. */
const findId = (
  rows: readonly Arguments[] | undefined,
  isSought: (row: Arguments) => boolean,
  id: string,
): unknown => {
  const [found, ...others] = rows?.filter(isSought) ?? [];
  return others.length === 0 ? found?.[id] : undefined;
};

/** Returns the update with the ids of the records in the question, so that a code that moves changes nothing. */
const bindNames = (args: Arguments, records: Records): Arguments => {
  const reasons = listItems(records["reasons"]);
  const assignees = listItems(records["assignees"]);
  const hasCode = (name: string) => (row: Arguments) => isSame(row["code"], args[name]);
  const ids: [code: string, id: string, found: unknown][] = [
    ["resolutionCode", "resolutionId", records["resolution"]?.["resolutionId"]],
    ["reasonCode", "reasonId", findId(reasons, hasCode("reasonCode"), "reasonId")],
    [
      "externalReasonCode",
      "externalReasonId",
      findId(reasons, hasCode("externalReasonCode"), "reasonId"),
    ],
    [
      "assigneeEmail",
      "assigneeId",
      findId(assignees, (row) => isSame(emailOf(row), args["assigneeEmail"]), "assigneeId"),
    ],
  ];
  const bound: Record<string, unknown> = { ...args };
  for (const [code, id, found] of ids) {
    if (!isText(args[code]) || args[id] !== undefined || !isText(found)) continue;
    delete bound[code];
    bound[id] = found;
  }
  return bound;
};

// Reopening needs no confirmation: closing the dispute again reverts it.
export const disputeEnding: Confirmation = {
  reads: {
    dispute: d.get,
    resolution: {
      operation: contract.resolutions.get,
      args: ({ resolutionCode }) => (isText(resolutionCode) ? { resolutionCode } : undefined),
    },
    resolutions: {
      operation: contract.resolutions.list,
      args: ({ resolutionId }) => (isText(resolutionId) ? {} : undefined),
    },
    reasons: {
      operation: contract.reasons.list,
      args: (args) => (REASON_NAMES.some((name) => isText(args[name])) ? {} : undefined),
    },
    assignees: {
      operation: contract.assignees.list,
      args: ({ assigneeId, assigneeEmail }) =>
        isText(assigneeId) || isText(assigneeEmail) ? {} : undefined,
    },
  },
  etagFrom: "dispute",
  bind: bindNames,
  question(args, records) {
    const { dispute } = records;
    const hasEnded = dispute !== undefined && ENDED.includes(dispute["status"]);
    // The platform refuses the transition, or the dispute already has this status.
    const isEnding = ENDED.includes(args["status"]) && !hasEnded;
    const { amount } = args;
    const isOtherAmount = amount !== undefined && amount !== dispute?.["amount"];
    return isEnding || isOtherAmount ? `${describeUpdate(args, records)}?` : null;
  },
};
