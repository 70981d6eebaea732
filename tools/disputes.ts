import { Problem } from "../src/contract/errors.ts";
import { contract } from "../src/contract/index.ts";
import { changeNamed, disputeNamed, isText, itemsOf, money, named, quoted } from "./shown.ts";
import { downloadFile, uploadFile } from "./dispute-files.ts";
import { type Arguments, type Consent, tool } from "./tool.ts";

const { disputes: d, dispute_notes: notes, dispute_attachments: files } = contract;

const refuse = (field: string, message: string): never => {
  throw new Problem("invalid_request", `${field} ${message}.`, {
    errors: [{ field, code: "unknown_reference", message }],
  });
};

/** Refuses a resolution that the platform would refuse, as far as could be read. */
const checkResolution = (
  { status, resolutionId, resolutionCode }: Arguments,
  { dispute, resolution, resolutions }: Readonly<Record<string, Arguments | undefined>>,
): Arguments | undefined => {
  const field = isText(resolutionCode) ? "resolutionCode" : "resolutionId";
  const listed = itemsOf(resolutions)?.find((one) => one["resolutionId"] === resolutionId);
  if (isText(resolutionId) && resolutions !== undefined && listed === undefined) {
    refuse("resolutionId", "names no resolution; resolutions_list shows them");
  }
  const found = resolution ?? listed;
  if (found === undefined || found["resolutionId"] === dispute?.["resolutionId"]) return found;
  if (status === CANCELED) refuse(field, "goes with status Closed only");
  if (found["active"] === false) refuse(field, "names an inactive resolution");
  return found;
};

const outcomeOf = (
  { status, isValid, resolutionId, resolutionCode }: Arguments,
  found: Arguments | undefined,
  dispute: Arguments | undefined,
): string => {
  const code = found?.["code"] ?? resolutionCode ?? resolutionId;
  if (isText(code)) return `, as ${named(code)}`;
  if (status !== CLOSED || isValid !== undefined) return "";
  const counts = dispute?.["isValid"] === true ? "valid" : "not valid";
  return `, without a resolution: it will count as ${counts}`;
};

const CLOSED = 1;
const CANCELED = 2;
const OVER: readonly unknown[] = [CLOSED, CANCELED];

// Reopening does not ask: closing again brings back what it loses.
const ending: Consent = {
  reads: {
    dispute: d.get,
    resolution: {
      operation: contract.resolutions.get,
      args: ({ resolutionCode }) => (isText(resolutionCode) ? { resolutionCode } : undefined),
      names: "resolutionCode",
    },
    resolutions: {
      operation: contract.resolutions.list,
      args: ({ resolutionId }) => (isText(resolutionId) ? {} : undefined),
    },
  },
  holds: "dispute",
  question(args, records) {
    const { disputeId, status, resolutionCode: _code, resolutionId: _id, ...others } = args;
    const { dispute } = records;
    // The platform refuses the move, or the dispute has this status already.
    if (dispute !== undefined && OVER.includes(dispute["status"])) return null;
    const outcome = outcomeOf(args, checkResolution(args, records), dispute);
    const verb = status === CLOSED ? "Close" : "Cancel";
    const changes = Object.entries(others).map(([name, value]) =>
      name === "amount"
        ? `amount ${money(value, dispute?.["currencyCode"])}`
        : changeNamed(name, value),
    );
    const more = changes.length === 0 ? "" : `, with ${changes.join(", ")}`;
    return `${verb} dispute ${disputeNamed(dispute, disputeId)}${outcome}${more}?`;
  },
};

const deletion: Consent = {
  reads: { dispute: d.get },
  question: ({ disputeId }, { dispute }) =>
    `Delete dispute ${disputeNamed(dispute, disputeId)} with all its notes and files? This cannot be undone.`,
};

const noteDeletion: Consent = {
  reads: { note: notes.get, dispute: d.get },
  question({ noteId, disputeId }, { note, dispute }) {
    const which = note === undefined ? quoted(noteId) : quoted(note["content"]);
    return `Delete note ${which} of dispute ${disputeNamed(dispute, disputeId)}? This cannot be undone.`;
  },
};

const fileDeletion: Consent = {
  reads: { file: files.get, dispute: d.get },
  question({ attachmentId, disputeId }, { file, dispute }) {
    const which = file === undefined ? quoted(attachmentId) : named(file["fileName"]);
    return `Delete file ${which} of dispute ${disputeNamed(dispute, disputeId)}? This cannot be undone.`;
  },
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
  tool(d.delete, undefined, { confirm: deletion }),
  tool(d.list_by_document_numbers),
  tool(d.list_by_ids),
  tool(notes.get),
  tool(notes.list),
  tool(notes.create, "Add a note to a dispute; Internal by default."),
  tool(notes.update),
  tool(notes.delete, undefined, { confirm: noteDeletion }),
  tool(files.get),
  tool(files.list),
  tool(files.create, "Announce a file and get a URL that takes its bytes by HTTP PUT, once."),
  tool(files.update),
  tool(files.delete, undefined, { confirm: fileDeletion }),
  tool(uploadFile),
  tool(downloadFile),
];
