import fc from "fast-check";

/** Values as JSON text, or what pretends to be JSON: bodies are built of text, so that nothing is made right on the way. */
type Text = fc.Arbitrary<string>;

const quoted = (text: string): string => JSON.stringify(text);

const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1.0",
  "1E+2",
  "5e-324",
  "1e-300",
  "1e308",
  "1e400",
  "-1e400",
  "0.001",
  "0.1234567",
  "0.30000000000000004",
  "99999999999999.99",
  "2147483648",
  "9007199254740993",
  "12345678901234567",
  "123456789012345678901234567890",
  "0.00000000000000000000000000001",
];

const NOT_JSON = ["NaN", "-Infinity", "undefined", "01", "+1", ".5", "1.", "0x10", "'a'", "{a:1}"];

const WORDS = [
  "",
  " ",
  "\0",
  "a\0b",
  "e\u0301",
  "\u202eevil\u202c",
  "\u200b",
  "\u0007\u001b[31m",
  "\ufeff",
  "\n\r\t",
  "\u2028",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "\ufdfa".repeat(20),
  "__proto__",
  "constructor",
  "toString",
  "null",
  "NaN",
  "0",
  "true",
  "2026-02-30",
  "' or 1=1 --",
  "%",
  "_",
  "\\",
  "a/b",
  "<script>alert(1)</script>",
  "../../etc/passwd",
];

const LONG = [129, 201, 255, 501, 1025, 10_001, 200_000].map((length) => "x".repeat(length));
const WIDE = ["\u{1f600}".repeat(64), "\u{1f600}".repeat(128), "\u0301".repeat(3000)];
// Halves of characters: they can only be written as escapes.
const HALVES = ['"\\ud800"', '"a\\udc00b"', '"\\udc00\\ud800"'];

const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + close.repeat(depth);

const SHAPES = [
  "null",
  "true",
  "false",
  "[]",
  "[null]",
  "{}",
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"toString":1,"valueOf":null,"hasOwnProperty":[]}',
  '{"length":1e9}',
  '{"then":"x"}',
  nested(31, "[", "]"),
  nested(33, "[", "]"),
  nested(20_000, "[", "]"),
  nested(40, '{"a":', "}").replace("}", "1}"),
  `[${'"x",'.repeat(1000)}"x"]`,
  `[${"0,".repeat(999)}0]`,
  `[${"0,".repeat(9999)}0]`,
  `[${"0,".repeat(10_000)}0]`,
  `[${quoted("y".repeat(128))},1,null,{}]`,
];

/** Values that hardly any field accepts. */
export const weird: Text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 4, arbitrary: fc.constantFrom(...WORDS, ...LONG, ...WIDE).map(quoted) },
  { weight: 1, arbitrary: fc.constantFrom(...HALVES) },
  { weight: 3, arbitrary: fc.constantFrom(...SHAPES) },
  { weight: 1, arbitrary: fc.constantFrom(...NOT_JSON) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }).map(quoted) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
);

export type Schema = {
  type?: string;
  anyOf?: readonly Schema[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  maxLength?: number;
};

const CENT = 100;

const numberOf = ({ minimum, maximum, exclusiveMinimum }: Schema): Text => {
  const edges = [minimum, maximum, exclusiveMinimum].filter((edge) => edge !== undefined);
  return fc.oneof(
    fc.integer({ min: 1, max: 1_000_000 }).map((whole) => String(whole / CENT)),
    fc.constantFrom(...[0, 1, ...edges].flatMap((edge) => [edge - 1, edge, edge + 1]).map(String)),
  );
};

const stringOf = ({ maxLength = 64 }: Schema): Text =>
  fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: Math.min(maxLength, 20) }).map(quoted),
    fc.constantFrom("x".repeat(maxLength), "\u{1f600}".repeat(maxLength)).map(quoted),
    fc.constant(quoted("x".repeat(maxLength + 1))),
  );

const objectOf = ({ properties = {} }: Schema): Text =>
  fc
    .record(
      Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [
          name,
          fc.oneof({ weight: 3, arbitrary: fitting(schema) }, { weight: 1, arbitrary: weird }),
        ]),
      ),
      { requiredKeys: [] },
    )
    .map((record) => {
      const fields = Object.entries(record).map(([name, text]) => `${quoted(name)}:${text}`);
      return `{${fields.join(",")}}`;
    });

/** Values at and just beyond the limits of a schema. */
export const fitting = (schema: Schema): Text => {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(fitting));
  const listed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (listed !== undefined) return fc.constantFrom(...listed).map((value) => JSON.stringify(value));
  switch (schema.type) {
    case "string":
      return stringOf(schema);
    case "number":
    case "integer":
      return numberOf(schema);
    case "boolean":
      return fc.constantFrom("true", "false");
    case "null":
      return fc.constant("null");
    case "array":
      return fc
        .array(fitting(schema.items ?? {}), { maxLength: 3 })
        .map((items) => `[${items.join(",")}]`);
    case "object":
      return objectOf(schema);
    default:
      return weird;
  }
};

/** Texts for paths and queries, percent-encoded or not. */
export const encoded: Text = fc.oneof(
  fc.constantFrom(
    "",
    "%00",
    "a%00b",
    "%zz",
    "%",
    "%F0%9F",
    "%ED%A0%80",
    "%FF%FE",
    "%2F",
    "%2e%2e",
    "..",
    ".",
    "%20",
    "+",
    "a%0d%0aX-Injected:%201",
    "__proto__",
    "constructor",
    "toString",
    "e%CC%81",
    "%E2%80%AE",
    "%EF%BB%BF",
    "'%20or%201=1--",
    "%25",
    "_",
    "*",
    "-1",
    "0",
    "1e3",
    "1.5",
    "1001",
    "999999999999999",
    "99999999999999999999",
    "0x10",
    "true",
    "Open",
    "-CreateDate,,Amount",
    "2026-02-30",
    "2026-03-02T00:00:00%2B99:99",
  ),
  fc.constantFrom(129, 5000, 12_000).map((length) => "x".repeat(length)),
  fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => encodeURIComponent(text)),
);

export const headers: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    "If-Match": fc.constantFrom("*", '"x"', '"', 'W/"x"', ",,,", "\u00e9", '"a",'.repeat(2000)),
    "Idempotency-Key": fc.constantFrom(
      "",
      "one",
      "two",
      "\u00e9 \u00fc",
      "k".repeat(255),
      "k".repeat(256),
      "k".repeat(5000),
    ),
    "X-Request-Id": fc.constantFrom("", "a b", "r".repeat(129), "\u00e9", "fine-1"),
    "X-Platform-Client": fc.constantFrom("mcp", "", "\u00ff", "c".repeat(5000)),
    "X-Platform-Mcp-Tool": fc.constantFrom("some.tool", "", "UPPER", "t".repeat(65), "\u00e9"),
    Accept: fc.constantFrom("text/html", "*/*;q=nan", ""),
    "Content-Encoding": fc.constantFrom("gzip", "identity"),
    "X-Forwarded-For": fc.constantFrom("1.2.3.4", "no address", ",,,"),
  },
  { requiredKeys: [] },
);

export const contentTypes = fc.constantFrom(
  "text/plain",
  "application/xml",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "application/vnd.api+json",
  "APPLICATION/JSON",
  "application/jsonp",
  "json",
  "",
  ";",
);
