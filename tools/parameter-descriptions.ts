/**
 * Descriptions of tool parameters by name, for parameters whose schema has none and whose name is not enough. Each word
 * costs tokens in every session.
 */
export const parameterDescriptions: Readonly<Record<string, string>> = {
  fileName: "ending in .pdf .zip .eml .jpeg .gif .png .mov .mp4 .docx .xlsx .txt or .rtf",
  text: "content; or send base64 or path",
  path: "local file in an allowed folder",
  status: "closes, cancels or reopens",
  externalReasonId: "customer's reason",
  externalReasonCode: "any case",
  isValid: "claim is valid",
  content: "up to 10,000 characters",
  visibility: "All includes the customer",
  allUpdates: "e-mail each change",
  dailyDigest: "e-mail daily",
  timeZone: "IANA name",
  reference: "note id",
  body: "up to 10,000 characters",
  effective_date: "ISO 8601",
  invoice_num: "if different",
  ship_to_account_num: "recipient",
  original_denomination: "total when issued",
  denomination_in_original_currency: "open balance",
  unit_of_measure: "such as EA",
  companyId: "company.companyId",
  statusCode: "HTTP status",
};

/** Examples of the keys of free-form objects, by parameter. */
export const openProperties: Readonly<
  Record<string, Record<string, { type: "object"; properties: Record<string, { type: "string" }> }>>
> = {
  filters: {
    paymentDate: {
      type: "object",
      properties: { gte: { type: "string" }, lt: { type: "string" } },
    },
  },
};

/** Descriptions that the parameter's name implies, for a model. The OpenAPI document has them. */
export const evidentDescriptions: ReadonlySet<string> = new Set([
  "free text",
  "ISO 3166-1 alpha-2",
  "ISO 4217",
  "ISO 639-1",
  "ISO 8601",
]);
