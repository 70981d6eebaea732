const UTF8 = new Set(["utf-8", "utf8"]);

const removeQuotes = (value: string): string =>
  value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;

/**
 * Whether each charset that a Content-Type names is UTF-8, the only one that JSON has (RFC 8259, section 8.1). A type
 * without a charset is UTF-8 too.
 */
export const isUtf8Type = (contentType: string): boolean =>
  contentType
    .split(";")
    .slice(1)
    .map((parameter) => parameter.split("="))
    .filter(([name = ""]) => name.trim().toLowerCase() === "charset")
    .every(([, ...value]) => UTF8.has(removeQuotes(value.join("=").trim()).toLowerCase()));

/** Whether a Content-Encoding header names an encoding: nothing here decodes one (RFC 9110, section 8.4). */
export const isEncoded = (contentEncoding: string | null | undefined): boolean =>
  (contentEncoding ?? "")
    .split(",")
    .some((coding) => !["", "identity"].includes(coding.trim().toLowerCase()));
