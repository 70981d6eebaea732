type Header = { description: string; schema: object };

const textHeader = (description: string, more: object = {}): Header => ({
  description,
  schema: { type: "string", ...more },
});
const countHeader = (description: string): Header => ({
  description,
  schema: { type: "integer", minimum: 0 },
});

/** The response headers. */
export const HEADERS = {
  "X-Request-Id": textHeader(
    "Id of the request in logs and errors. Equals the request's `X-Request-Id` if one was sent.",
  ),
  ETag: textHeader("Version of the resource, for `If-Match` and `If-None-Match`."),
  "X-Total-Count": countHeader("Number of matching records on all pages."),
  Link: textHeader(
    "URLs of the next and previous page (RFC 8288). Absent if the request is not paged.",
  ),
  Location: textHeader("Path of the created record."),
  "X-Ignored-Fields": textHeader(
    "Comma-separated list of unknown body fields, which were ignored.",
  ),
  "Content-Disposition": textHeader("File name."),
  "Content-Range": textHeader("The bytes of the answer, and the size of the file."),
  "Content-Length": countHeader("File size in bytes."),
  "Idempotency-Replayed": textHeader(
    "`true` if the response repeats an earlier one with the same `Idempotency-Key`.",
    {
      const: "true",
    },
  ),
  "Retry-After": countHeader("Seconds to wait before a retry."),
  "RateLimit-Policy": textHeader("Rate limits: requests (`q`) per window in seconds (`w`)."),
  RateLimit: textHeader("Remaining requests (`r`) and seconds until the limit resets (`t`)."),
  "WWW-Authenticate": textHeader("The supported authentication scheme."),
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

export const buildHeaderRefs = (names: readonly HeaderName[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
