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
export const SAVED = "receivables://saved/";
