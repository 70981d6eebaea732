const DISPUTE = "receivables://disputes/";
const DOCUMENT = "receivables://documents/";
const ATTACHMENTS = "/attachments/";

/** The resource of a document's PDF. */
export const attachmentUri = (documentNumber: string, id: string): string =>
  `${DOCUMENT}${encodeURIComponent(documentNumber)}${ATTACHMENTS}${encodeURIComponent(id)}`;

/** The name of a dispute's file in answers. */
export const disputeFileUri = (disputeId: string, attachmentId: string): string =>
  `${DISPUTE}${encodeURIComponent(disputeId)}${ATTACHMENTS}${encodeURIComponent(attachmentId)}`;
