import type { Asked, Tracked } from "../records.ts";
import { pdf, uploadPath } from "../../support/pdf.ts";

/** A file of a dispute: announced, then sent to the URL that the announcement was answered with. */
type State = { phase: "none" | "announced" | "sent" | "gone" };

export type TrackedFile = Tracked<State> & { id?: string; uploadUrl?: string; content: string };

export const noFile: State = { phase: "none" };

const pathOf = ({ tenantId, id = "" }: TrackedFile, disputeId: string): string =>
  `/dispute/v1/tenants/${tenantId}/disputes/${disputeId}/attachments${id === "" ? "" : `/${id}`}`;

export const announceFile = (file: TrackedFile, disputeId: string): Asked<State> => ({
  method: "POST",
  path: pathOf(file, disputeId),
  as: "gateway",
  body: { fileName: `${file.name}.txt` },
  effect: () => ({ status: 201, after: { phase: "announced" } }),
  learn(body) {
    file.id = body.attachmentId;
    const { pathname, search } = new URL(body.uploadUrl);
    file.uploadUrl = pathname + search;
  },
});

/** The upload is refused with 403 when its URL has expired, which leaves the record as it was. */
export const sendFile = (file: TrackedFile): Asked<State> => ({
  method: "PUT",
  path: file.uploadUrl ?? "",
  as: "visitor",
  raw: Uint8Array.from(Buffer.from(file.content)),
  effect: ({ phase }) => ({
    status: phase === "announced" ? 204 : 409,
    after: { phase: phase === "announced" ? "sent" : phase },
  }),
  isRefused: ({ detail }) => String(detail).startsWith("Another upload to this URL is under way"),
});

const STATUSES = {
  none: [],
  announced: ["PendingScan", "Expired"],
  sent: ["PendingScan", "Available", "Failed"],
  gone: [],
};

export const readFile = (
  file: TrackedFile,
  disputeId: string,
  statuses: Record<State["phase"], string[]> = STATUSES,
): Asked<State> => ({
  method: "GET",
  path: pathOf(file, disputeId),
  as: "gateway",
  effect: (before) => ({
    status: before.phase === "announced" || before.phase === "sent" ? 200 : 404,
    after: before,
  }),
  shows: (body, { phase }) => statuses[phase].includes(body.status),
});

export const removeFile = (file: TrackedFile, disputeId: string): Asked<State> => ({
  ...readFile(file, disputeId),
  method: "DELETE",
  effect: (before) =>
    before.phase === "announced" || before.phase === "sent"
      ? { status: 204, after: { phase: "gone" } }
      : { status: 404, after: before },
});

/** A PDF of a document. No two have the same size, by which lists are compared. */
export type TrackedPdf = Tracked<{ isStored: boolean }> & { size: number };

export const sendPdf = (
  file: TrackedPdf,
  connectionId: string,
  documentNumber: string,
): Asked<{ isStored: boolean }> => ({
  method: "POST",
  path: `${uploadPath(connectionId, documentNumber)}?append=true`,
  as: "ingest",
  raw: pdf(file.name, file.size),
  headers: { "Content-Type": "application/pdf" },
  effect: () => ({ status: 200, after: { isStored: true } }),
});
