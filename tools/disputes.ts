import { Problem } from "../src/contract/errors.ts";
import { contract } from "../src/contract/index.ts";
import {
  describeChange,
  describeDispute,
  isText,
  listItems,
  formatMoney,
  formatName,
  quote,
} from "./formatting.ts";
import { downloadFile, uploadFile } from "./dispute-files.ts";
import { type Arguments, type Confirmation, defineTool } from "./tool.ts";

const { disputes: d, dispute_notes: notes, dispute_attachments: files } = contract;

const refuse = (field: string, message: string): never => {
  throw new Problem("invalid_request", `${field} ${message}.`, {
    errors: [{ field, code: "unknown_reference", message }],
  });
};

/**
 * Returns the resolution of the call, if it could be read.
 *
 * @throws {Problem} invalid_request, if the platform would refuse the resolution
 */
const checkResolution = (
  { status, resolutionId, resolutionCode }: Arguments,
  { dispute, resolution, resolutions }: Readonly<Record<string, Arguments | undefined>>,
): Arguments | undefined => {
  const field = isText(resolutionCode) ? "resolutionCode" : "resolutionId";
  const listed = listItems(resolutions)?.find((one) => one["resolutionId"] === resolutionId);
  if (isText(resolutionId) && resolutions !== undefined && listed === undefined) {
    refuse("resolutionId", "must be an existing resolution; resolutions_list shows them");
  }
  const found = resolution ?? listed;
  if (found === undefined || found["resolutionId"] === dispute?.["resolutionId"]) return found;
  if (status === CANCELED) refuse(field, "is only allowed with status 1 (Closed)");
  if (found["active"] === false) refuse(field, "must be an active resolution");
  return found;
};

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

const CLOSED = 1;
const CANCELED = 2;
const ENDED: readonly unknown[] = [CLOSED, CANCELED];

// Reopening needs no confirmation: closing the dispute again reverts it.
const disputeEnding: Confirmation = {
  reads: {
    dispute: d.get,
    resolution: {
      operation: contract.resolutions.get,
      args: ({ resolutionCode }) => (isText(resolutionCode) ? { resolutionCode } : undefined),
      idArgument: "resolutionCode",
    },
    resolutions: {
      operation: contract.resolutions.list,
      args: ({ resolutionId }) => (isText(resolutionId) ? {} : undefined),
    },
  },
  etagFrom: "dispute",
  question(args, records) {
    const { disputeId, status, resolutionCode: _code, resolutionId: _id, ...others } = args;
    const { dispute } = records;
    // The platform refuses the transition, or the dispute already has this status.
    if (dispute !== undefined && ENDED.includes(dispute["status"])) return null;
    const outcome = describeOutcome(args, checkResolution(args, records), dispute);
    const verb = status === CLOSED ? "Close" : "Cancel";
    const changes = Object.entries(others).map(([name, value]) =>
      name === "amount"
        ? `amount ${formatMoney(value, dispute?.["currencyCode"])}`
        : describeChange(name, value),
    );
    const more = changes.length === 0 ? "" : `, with ${changes.join(", ")}`;
    return `${verb} dispute ${describeDispute(dispute, disputeId)}${outcome}${more}?`;
  },
};

const disputeDeletion: Confirmation = {
  reads: { dispute: d.get },
  question: ({ disputeId }, { dispute }) =>
    `Delete dispute ${describeDispute(dispute, disputeId)} with all its notes and files? This cannot be undone.`,
};

const noteDeletion: Confirmation = {
  reads: { note: notes.get, dispute: d.get },
  question({ noteId, disputeId }, { note, dispute }) {
    const which = note === undefined ? quote(noteId) : quote(note["content"]);
    return `Delete note ${which} of dispute ${describeDispute(dispute, disputeId)}? This cannot be undone.`;
  },
};

const fileDeletion: Confirmation = {
  reads: { file: files.get, dispute: d.get },
  question({ attachmentId, disputeId }, { file, dispute }) {
    const which = file === undefined ? quote(attachmentId) : formatName(file["fileName"]);
    return `Delete file ${which} of dispute ${describeDispute(dispute, disputeId)}? This cannot be undone.`;
  },
};

export const disputes = [
  defineTool(d.get),
  defineTool(
    d.list,
    "List disputes, newest first, by status, account, document, assignee, reason or category.",
  ),
  defineTool(
    d.create,
    "Open a dispute on a document of an account. Requires a reason id or code.",
    {
      title: "Open dispute",
    },
  ),
  defineTool(
    d.update,
    "Update, close, cancel or reopen a dispute. Closing and canceling ask the person first.",
    { confirm: disputeEnding },
  ),
  defineTool(d.delete, undefined, { confirm: disputeDeletion }),
  defineTool(d.list_by_document_numbers),
  defineTool(d.list_by_ids),
  defineTool(notes.get),
  defineTool(notes.list),
  defineTool(notes.create, "Add a note to a dispute; Internal by default."),
  defineTool(notes.update),
  defineTool(notes.delete, undefined, { confirm: noteDeletion }),
  defineTool(files.get),
  defineTool(files.list),
  defineTool(files.create, "Create an attachment and get a URL for one HTTP PUT of its bytes."),
  defineTool(files.update),
  defineTool(files.delete, undefined, { confirm: fileDeletion }),
  defineTool(uploadFile),
  defineTool(downloadFile),
];
