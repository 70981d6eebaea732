type Header = { description: string; schema: object };

const textHeader = (description: string, more: object = {}): Header => ({
  description,
  schema: { type: "string", ...more },
});
const countHeader = (description: string): Header => ({
  description,
  schema: { type: "integer", minimum: 0 },
});

/** Every header that an answer may bear. */
export const HEADERS = {
  "X-Request-Id": textHeader("Names the request in logs; the sender's own, if it sent one."),
  ETag: textHeader("The version of what is answered, for `If-Match` and `If-None-Match`."),
  "X-Total-Count": countHeader("How many records there are, on all pages together."),
  Link: textHeader(
    "Where the next and the previous page are, after RFC 8288; absent without pages.",
  ),
  "X-Ignored-Fields": textHeader("Fields of the body that mean nothing here, separated by commas."),
  "Content-Disposition": textHeader("The file's name."),
  "Content-Length": countHeader("The file's size in bytes."),
  "Idempotency-Replayed": textHeader("Present on the answer to a repeat: nothing was made.", {
    const: "true",
  }),
  "Retry-After": countHeader("Seconds to wait."),
  "RateLimit-Policy": textHeader("The limits that apply: requests (`q`) in seconds (`w`)."),
  RateLimit: textHeader("What is left of them: requests (`r`) for seconds (`t`)."),
  "WWW-Authenticate": textHeader("How to authenticate."),
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

export const buildHeaderRefs = (names: readonly HeaderName[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
