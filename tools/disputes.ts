import { contract } from "../src/contract/index.ts";
import { changeNamed, disputeNamed, money, named, quoted } from "./shown.ts";
import { downloadFile, uploadFile } from "./dispute-files.ts";
import { type Consent, tool } from "./tool.ts";

const { disputes: d, dispute_notes: notes, dispute_attachments: files } = contract;

// Reopening asks nobody: it loses nothing that closing again does not bring back.
const ending: Consent = {
  reads: { dispute: d.get },
  question({ disputeId, status, resolutionCode, ...others }, { dispute }) {
    if (status !== 1 && status !== 2) return null;
    const which = `${status === 1 ? "Close" : "Cancel"} dispute ${disputeNamed(dispute, disputeId)}`;
    const how = typeof resolutionCode === "string" ? `, as ${named(resolutionCode)}` : "";
    const changes = Object.entries(others).map(([name, value]) =>
      name === "amount"
        ? `amount ${money(value, dispute?.["currencyCode"])}`
        : changeNamed(name, value),
    );
    return `${which}${how}${changes.length === 0 ? "" : `, with ${changes.join(", ")}`}?`;
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
