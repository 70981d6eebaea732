type Header = { description: string; schema: object };

const text = (description: string, more: object = {}): Header => ({
  description,
  schema: { type: "string", ...more },
});
const count = (description: string): Header => ({
  description,
  schema: { type: "integer", minimum: 0 },
});

/** Every header that an answer may bear. */
export const HEADERS = {
  "X-Request-Id": text("Names the request in logs; the sender's own, if it sent one."),
  ETag: text("The version of what is answered, for `If-Match` and `If-None-Match`."),
  "X-Total-Count": count("How many records there are, on all pages together."),
  Link: text("Where the next and the previous page are, after RFC 8288; absent without pages."),
  "X-Ignored-Fields": text("Fields of the body that mean nothing here, separated by commas."),
  "Content-Disposition": text("The file's name."),
  "Content-Length": count("The file's size in bytes."),
  "Idempotency-Replayed": text("Present on the answer to a repeat: nothing was made.", {
    const: "true",
  }),
  "Retry-After": count("Seconds to wait."),
  "RateLimit-Policy": text("The limits that apply: requests (`q`) in seconds (`w`)."),
  RateLimit: text("What is left of them: requests (`r`) for seconds (`t`)."),
  "WWW-Authenticate": text("How to authenticate."),
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

export const headerRefs = (names: readonly HeaderName[]): Record<string, { $ref: string }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
