export const GUIDE = "receivables://guide";
export const CONFIGURATION = "receivables://dispute-configuration";
export const DISPUTE = "receivables://disputes/";

export const APPLICATIONS = "receivables://credit-applications";
export const APPLICATION = `${APPLICATIONS}/`;
export const EXPORT_SCHEMA = "receivables://export/schema";
export const ACCOUNT = "receivables://accounts/";
export const DOCUMENT = "receivables://documents/";
export const EXPORT_RUNS = "receivables://export-runs/";
export const ATTACHMENTS = "/attachments/";

export const attachmentUri = (documentNumber: string, id: string): string =>
  `${DOCUMENT}${encodeURIComponent(documentNumber)}${ATTACHMENTS}${encodeURIComponent(id)}`;

export const disputeFileUri = (disputeId: string, attachmentId: string): string =>
  `${DISPUTE}${encodeURIComponent(disputeId)}${ATTACHMENTS}${encodeURIComponent(attachmentId)}`;
