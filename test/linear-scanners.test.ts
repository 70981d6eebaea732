import { describe, expect, it } from "vitest";
import { describeFile } from "../src/client/file.ts";
import { redactSecrets } from "../src/client/redact.ts";
import { parseRetryAfter } from "../src/client/retry-after.ts";
import { parseFilter } from "../src/contract/payments/filter.ts";
import { isUtf8Type } from "../src/kit/charset.ts";
import { findExceededLimit } from "../src/kit/json.ts";
import { parseJson, parseJsonInTurns } from "../src/kit/parse-json.ts";
import { quote } from "../tools/formatting.ts";
import { sanitizeLine, sanitizeText } from "../src/mcp/results/sanitize.ts";
import { estimateTokens } from "../src/mcp/results/tokens.ts";
import { scanId } from "../src/mcp/message-ids.ts";
import { createCursors } from "../src/mcp/tools/cursor.ts";
import { parseMessage as parseHandshake } from "../src/mcp/stdio/handshake.ts";
import { createCookie } from "../src/oauth/cookies.ts";
import { createAddressOf } from "../src/platform/http/address.ts";
import { matchesIfNoneMatch } from "../src/platform/http/etag.ts";
import { readBai2 } from "../src/platform/import/bank/bai2.ts";
import { readCamt } from "../src/platform/import/bank/camt.ts";
import { readEdi820 } from "../src/platform/import/bank/edi820.ts";
import { readMt940 } from "../src/platform/import/bank/mt940.ts";
import type { ReadBankFile } from "../src/platform/import/bank/file.ts";
import { createCsvReader } from "../src/platform/import/csv.ts";
import { detectContent } from "../src/platform/import/detect.ts";
import { readLines } from "../src/platform/import/lines.ts";
import { createNdjsonReader } from "../src/platform/import/ndjson.ts";
import { readAmount } from "../src/platform/import/numbers.ts";
import type { Reader } from "../src/platform/import/rows.ts";
import { findConcept } from "../src/platform/import/suggest/headings.ts";
import { isTotalWord } from "../src/platform/import/totals.ts";
import { describeFormat } from "../src/kit/xlsx/formats.ts";
import { checkIfMatch } from "../src/platform/preconditions.ts";
import { fourfoldGrowth, MAX_FOURFOLD_GROWTH } from "./support/growth.ts";
import {
  describeScanners,
  type Payload,
  type Scan,
  type Scanner,
} from "./support/linear-scanners.ts";
import { verifies } from "./support/verifies.ts";

const CHUNK = 64 * 1024;

const chunksOf = async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
};

const readWith =
  (createReader: () => Reader): Scan =>
  async (text) => {
    const reader = createReader();
    for await (const lines of readLines(chunksOf(text))) reader.push(lines);
    reader.end();
  };

const readBank =
  (read: ReadBankFile): Scan =>
  async (text) => {
    for await (const items of read(chunksOf(text), () => {})) expect(items).toBeDefined();
  };

const wire = (headers: Record<string, string>) => ({ status: 200, headers, body: "" });
const cookie = createCookie("https://issuer.example", {
  name: "session",
  path: "/",
  sameSite: "Lax",
});
const cursors = createCursors(Buffer.alloc(32), () => 0);
const purpose = { tool: "t", args: {}, tenantId: "a", principal: "p", caller: "c" };
const addressOf = createAddressOf(["127.0.0.0/8", "10.0.0.0/8"]);
const socket = { remoteAddress: "127.0.0.1" };

const JSON_TEXTS: Payload[] = [
  "[",
  ["", '{"a":'],
  ["[", "[],", "[]]"],
  ['"', "\\"],
  ['"', '\\"', '"'],
  ["[", "1234567890.1234567,", "1]"],
  ["", "1"],
  ["[", '"",', '""]'],
  ":",
];
/** Longer than the texts that are parsed in one piece. */
const SPACES = " ".repeat(140_000);
const MARKUP: Payload[] = [
  ..."<`~![]()\\&\u001b\u0007é".split(""),
  "< ",
  "![](",
  "]:",
  "<a ",
  "<!--",
  "``` ",
  "\u001b[",
  "\u001b]",
  "\u{e0001}",
  "\ud800",
  "\r",
];
const ISA =
  "ISA*00*          *00*          *ZZ*A              *ZZ*B              *260101*0000*U*00401*000000001*0*P*>~";

const SCANNERS: readonly Scanner[] = [
  [
    "Content-Disposition",
    (text) => describeFile(wire({ "content-disposition": text })),
    [
      ";filename=",
      ";filename*=utf-8'",
      ["", ';filename="\\'],
      ['attachment;filename="', "\\"],
      ["attachment;", " "],
      "; ",
      "%41/",
      ["a;filename*=utf-8''", "%41"],
      ["a;filename=", "a/"],
    ],
  ],
  [
    "Content-Type of a file",
    (text) => describeFile(wire({ "content-type": text })),
    ["a/", "a", ";"],
  ],
  ["charset", isUtf8Type, [";", "=", ";charset=", ' ";', ["a;charset=", '"']]],
  ["Retry-After", (text) => parseRetryAfter(wire({ "retry-after": text }), 0), ["1", " ", "Mon, "]],
  [
    "If-None-Match",
    (text) =>
      matchesIfNoneMatch(
        new Request("http://a.example", { headers: { "if-none-match": text } }),
        '"a"',
      ),
    [",", '"b",', "W/"],
  ],
  [
    "If-Match",
    (text) => checkIfMatch({ ifMatch: text }, { id: "a", version: 1 }),
    [",", '"b",', " "],
  ],
  [
    "cookies",
    (text) => cookie.read({ headers: { cookie: text } }),
    ["=", ";", "a=b;", " ", "__Host-session;"],
  ],
  [
    "X-Forwarded-For",
    (text) => addressOf({ headers: { "x-forwarded-for": text }, socket } as never),
    [",", " ", "10.0.0.1,", "[", "1.1.1.1:"],
  ],
  [
    "secrets in responses",
    (text) => redactSecrets({ ...wire({}), body: text }, ["aaaaaaaa", "aaaaaaaab"]),
    ["a", ["", "aaaaaaa "]],
  ],
  ["limits of JSON", (text) => findExceededLimit(text, {}), JSON_TEXTS],
  ["JSON", (text) => findExceededLimit(text, { depth: 32 }) ?? parseJson(text), JSON_TEXTS],
  [
    "JSON in turns",
    (text) => parseJsonInTurns(SPACES + text, {}).catch((error: unknown) => error),
    [
      ...JSON_TEXTS,
      "-",
      " ",
      ['{"', "n", '":1}'],
      [`{"${"n".repeat(4000)}"`, ":"],
      ["[", '{"a":1},1,{},', "1]"],
    ],
  ],
  [
    "ids of messages",
    (text) => scanId(Buffer.from(text)),
    [
      ['{"id":7,', ":"],
      ['{"id":7,', '"",'],
      ['{"id":7,', String.raw`"\u0069d":x,`],
      ['{"id":7,', '"id":x,'],
      ['{"id":7,', " \n"],
      ['{"id":7,"a":[', String.raw`"\\",`],
    ],
  ],
  [
    "names in filters of payments",
    (text) => parseFilter("cashapp", { [text]: {}, poNumber: { [text]: 1 } }),
    ["AbcDef", "a", "_"],
  ],
  [
    "amounts in filters of payments",
    (text) => parseFilter("cashapp", { paymentAmount: text, invoiceAmount: { eq: text } }),
    ["7", "7,", ".", "-"],
  ],
  ["handshake", parseHandshake, ['{"a":', "[", ['"', "\\"]]],
  ["sanitizer of texts", sanitizeText, MARKUP],
  ["sanitizer of lines", (text) => sanitizeLine(text, text.length), MARKUP],
  [
    "estimate of tokens",
    estimateTokens,
    ["a", "1", "a1", " ", " 1", "a ", "aB", "(", "é", "漢", "\u{1f600}", "\ud800"],
  ],
  ["names in questions", quote, [" ", "a", "\n", "\u{1f600}"]],
  ["cursors", (text) => cursors.open(text, purpose), ["a", ".", "=", "é"]],
  [
    "CSV",
    readWith(createCsvReader),
    [
      '"',
      '"\n',
      '""',
      ",",
      "a\n",
      ["a,b\n", '"a\n'],
      ["a\n", '"\n'],
      ["a\n", '"\n""\n'],
      "\r",
      ["a\n", '"a"b\n'],
    ],
  ],
  [
    "tables with a header below other lines",
    readWith(() => createCsvReader({ expected: new Set(["a", "b"]) })),
    ['"', '"\n', ",", ";\n", "a\n", ["a,b\n", '"a\n'], ["sep=;\na\n", '"\n']],
  ],
  [
    "amounts",
    (text) => readAmount(text, { currency: "USD", decimals: 2 }),
    ["1", "1,", "1.", " ", "(", "-", "$", ["1", " "]],
  ],
  ["words of totals", isTotalWord, ["total ", " ", "é", "a"]],
  ["headings", findConcept, ["(", "(a)", " ", "A", "EUR "]],
  ["formats of workbooks", describeFormat, ['"', "[", "\\", "[h]", "_", "d;"]],
  ["NDJSON", readWith(createNdjsonReader), ["{", "{}\n", '{"a":\n', "\n", "["]],
  [
    "BAI2",
    readBank(readBai2),
    [
      "01,/\n",
      ["01,a/", " "],
      ["01,a\n02,,o,,260101,,USD\n03,1,USD/\n16,195,100,,b,c\n", "88,x\n"],
      ["01,a\n02,,o,,260101,,USD\n03,1,USD/\n16,195,100,,b,c", ","],
      ["01,a\n02,,o,,260101,,USD\n03,1,USD/\n16,195,100,,b,c", " /"],
    ],
  ],
  [
    "X12",
    readBank(readEdi820),
    [
      "ISA",
      "ISA*",
      " ",
      [ISA, "~"],
      [ISA, "GS~"],
      [`${ISA}ST*820*1~`, "RMR*IV*1**1~"],
      [`${ISA}ST*820*1~RMR`, "*"],
    ],
  ],
  [
    "MT940",
    readBank(readMt940),
    [
      ":20:a\n",
      "{1:}{4:",
      [":20:a\n:60F:C260101EUR1,\n:61:260101C1,NTRF", "/"],
      [":20:a\n:60F:C260101EUR1,\n:61:260101C1,NTRFa\n:86:166?20", "EREF+"],
      [":20:a\n:60F:C260101EUR1,\n:61:260101C1,NTRFa\n:86:166", "?20"],
      [":20:a\n:60F:C260101EUR1,\n:61:260101C1,NTRFa\n:86:", "/EREF/"],
      [":20:a\n:60F:C260101EUR1,\n:61:260101C1,NTRFa\n:86:a", "\nb"],
    ],
  ],
  [
    "kinds of files",
    (text) => detectContent(Buffer.from(text)),
    ["ISA", "ISA*00*ST*", " ", "<", "<a:", ":20:\n", "01,", ["UNA:", "UNH+"]],
  ],
  [
    "camt",
    readBank(readCamt),
    [
      "<",
      "<a>",
      "&",
      ["<a>", "<b/>"],
      ["<a>", "<!-- -->"],
      ["<a ", "b=''"],
      ["<a b='", "<"],
      ["<a>", "&amp;"],
      ["<a><![CDATA[", "]]"],
      ["<?xml", " "],
    ],
  ],
];

verifies("C-88");
describeScanners(SCANNERS);

describe("the measurement", () => {
  it("finds a quadratic scanner", async () => {
    const growth = await fourfoldGrowth(async (size) => {
      const text = "a".repeat(size);
      let count = 0;
      for (let at = 0; at < size; at += 16) count += text.slice(at).split("b").length;
      return count;
    });
    expect(growth).toBeGreaterThan(MAX_FOURFOLD_GROWTH);
  });
});
