import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { describeFile } from "../src/client/file.ts";
import { redactSecrets } from "../src/client/redact.ts";
import { parseRetryAfter } from "../src/client/retry-after.ts";
import type { Extension } from "../src/contract/file-types.ts";
import { isUtf8Type } from "../src/kit/charset.ts";
import { findExceededLimit, parseJson } from "../src/kit/json.ts";
import { quote } from "../tools/formatting.ts";
import { sanitizeLine, sanitizeText } from "../src/mcp/results/sanitize.ts";
import { estimateTokens } from "../src/mcp/results/tokens.ts";
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
import { describeFormat } from "../src/platform/import/xlsx/formats.ts";
import { checkIfMatch } from "../src/platform/preconditions.ts";
import { withSpooledFile } from "../src/kit/bytes.ts";
import { inspectUpload } from "../src/platform/scan/inspect.ts";
import { fourfoldGrowth, MAX_FOURFOLD_GROWTH } from "./support/growth.ts";
import { verifies } from "./support/verifies.ts";

/** Text that is repeated, what precedes it, and what follows it. */
type Payload = string | readonly [before: string, repeated: string, after?: string];
type Scan = (text: string) => unknown;

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

/** Scans, and accepts a refusal, which most of the texts deserve. */
const scanOrRefuse = async (scan: Scan, text: string): Promise<void> => {
  try {
    await scan(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
};

/** Scans a file as the scanner's worker thread does, but in this thread, whose processor time is measured. */
const scanAs =
  (type: Extension): Scan =>
  (text) =>
    withSpooledFile(Readable.from([Buffer.from(text, "latin1")]), async (bytes) => {
      await inspectUpload(type, bytes);
    });

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
const JSON_LIMITS = {
  depth: Infinity,
  arrayLength: Infinity,
  names: Infinity,
  commas: Infinity,
};

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
const PDF_HEAD = "%PDF-1.7\n";
const ISA =
  "ISA*00*          *00*          *ZZ*A              *ZZ*B              *260101*0000*U*00401*000000001*0*P*>~";

const SCANNERS: [string, Scan, Payload[]][] = [
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
  ["limits of JSON", (text) => findExceededLimit(text, JSON_LIMITS), JSON_TEXTS],
  [
    "JSON",
    (text) => findExceededLimit(text, { ...JSON_LIMITS, depth: 32 }) ?? parseJson(text),
    JSON_TEXTS,
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
  [
    "PDF",
    (text) => scanAs(".pdf")(PDF_HEAD + text),
    [
      "(",
      "<",
      "<<",
      "[",
      "%",
      "/",
      "/#4",
      "1 0 obj 1 endobj\n",
      "1 0 obj<<>>stream\nendstream endobj\n",
      ["1 0 obj [", "1 0 R "],
      ["1 0 obj <<", "/a 1", ">> endobj"],
      ["xref ", "0 "],
      "/First ",
      "trailer<<>>",
    ],
  ],
  [
    "RTF",
    scanAs(".rtf"),
    [
      ["{\\rtf1", "{"],
      ["{\\rtf1", "\\"],
      ["{\\rtf1", "\\'4"],
      ["{\\rtf1", "{\\*\\pn}"],
      ["{\\rtf1 {\\field{\\*\\fldinst ", " "],
      ["{\\rtf1 ", "0a"],
      ["{\\rtf1", "\\a1"],
    ],
  ],
  [
    "mail",
    scanAs(".eml"),
    [
      ["From: a\n", " x\n"],
      ["From: a\n", "A:b\n"],
      ["From: a\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n"],
      ["From: a\nContent-Type: multipart/mixed; boundary=b\n\n", "--b\n\n"],
      ["From: a\nContent-Type: a; ", "name*0=a;", "\n\nx"],
      ["From: a\nContent-Disposition: attachment; filename==?utf-8?q?", "=41", "?=\n\nx"],
      ["From: a\nContent-Transfer-Encoding: quoted-printable\n\n", "="],
      ["From: a\nContent-Transfer-Encoding: base64\n\n", "="],
      ["From: a\n\n", "begin 644 "],
    ],
  ],
  ["text files", scanAs(".txt"), ["\n", "é", "begin 644 ", "<", "PE\u0000"]],
  [
    "pictures",
    scanAs(".gif"),
    [
      ["GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000", "!\u00f9\u0000"],
      ["GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000", ","],
    ],
  ],
];

const textOf = (payload: Payload, size: number): string => {
  const [before, repeated, after = ""] = typeof payload === "string" ? ["", payload] : payload;
  return before + repeated.repeat(Math.ceil(size / repeated.length)) + after;
};

verifies("C-88");
describe.each(SCANNERS)("the scanner of %s", (_name, scan, payloads) => {
  it.each(payloads.map((payload) => [JSON.stringify(payload), payload] as const))(
    "takes linear time for repeated %s",
    async (_shown, payload) => {
      const texts = new Map<number, string>();
      const growth = await fourfoldGrowth(async (size) => {
        const text = texts.get(size) ?? textOf(payload, size);
        texts.set(size, text);
        await scanOrRefuse(scan, text);
      });
      expect(growth).toBeLessThan(MAX_FOURFOLD_GROWTH);
    },
    60_000,
  );
});

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
