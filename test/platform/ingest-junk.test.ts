import fc from "fast-check";
import { expect, it } from "vitest";
import {
  ACCOUNT,
  accountAt,
  DOCUMENT,
  documentAt,
  recordAt,
  useIngestTenant,
} from "../support/ingest.ts";
import { onEveryStore, type Reply } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const BODIES = 2100;

/** JSON text of invalid values. */
const JUNK = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "0",
    "-0",
    "1e400",
    "12345678901234567890",
    "0.1234567890123456789",
    "1e-7",
    '""',
    '"0"',
    '"\\u0000"',
    '"\\ud800"',
    '"2026-02-30"',
    '"2026-01-31"',
    '"9999-12-31T23:59:59.999+14:00"',
    '"USD"',
    '"XXQ"',
    "[]",
    "[[]]",
    "[null]",
    "{}",
    '{"type": "date", "value": "x"}',
    '{"collections": {"a": {"type": "number"}}}',
    '{"collections": null}',
    '{"__proto__": {"a": 1}}',
    '{"constructor": {"prototype": null}}',
    '{"toString": 1}',
    `"${"x".repeat(20_000)}"`,
    "[".repeat(30) + "]".repeat(30),
  ),
  fc.json({ maxDepth: 3 }),
);

const FIELDS = [
  "name currency language billing_address remit_to email credit_limit parent_account_number",
  "is_parent_account data_providers custom_fields phone account_number invoice_date due_date",
  "document_type applies_to_invoice pdf_name ship_to_address_country denomination",
  "denomination_in_base_currency line_items discount_date tax_amount invoicing_detail comment",
  "status reference body subject effective_date closure_reason closure_date notes",
  "__proto__ constructor toString hasOwnProperty",
].flatMap((line) => line.split(" "));

type Request = { verb: string; kind: "accounts" | "documents"; fields: [string, string][] };

const REQUEST = fc.record<Request>({
  verb: fc.constantFrom("POST", "PUT", "PATCH", "notes", "closure"),
  kind: fc.constantFrom("accounts", "documents"),
  fields: fc.array(fc.tuple(fc.constantFrom(...FIELDS), JUNK), { minLength: 1, maxLength: 4 }),
});

onEveryStore("junk sent to the ingest API", (at) => {
  const call = useIngestTenant(at, "junk");
  const paths = { accounts: accountAt("J"), documents: documentAt("J") };

  const send = ({ verb, kind, fields }: Request): Promise<Reply> => {
    const whole = { accounts: ACCOUNT, documents: DOCUMENT }[kind];
    const valid = verb === "POST" || verb === "PUT" ? Object.entries(whole) : [];
    const sent = [
      ...valid.map(([name, value]) => [name, JSON.stringify(value)] as const),
      ...fields,
    ];
    const raw = `{${sent.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(", ")}}`;
    if (verb === "notes") return call("POST", `${accountAt("J")}/notes`, { raw });
    if (verb === "closure") return call("POST", `${documentAt("J")}/closure`, { raw });
    return call(verb, paths[kind], { raw });
  };

  const records = async (): Promise<string> => {
    const account = await recordAt(call, accountAt("J")).get();
    const document = await recordAt(call, documentAt("J")).get();
    expect([account.status, document.status]).toEqual([200, 200]);
    return account.text + document.text;
  };

  verifies("D-ERR-7", "IA-10", "ID-02");
  it("is refused with its faults, changes nothing, and never causes an internal error", async () => {
    await recordAt(call, accountAt("J")).put(ACCOUNT);
    await recordAt(call, documentAt("J")).put({ ...DOCUMENT, denomination: 1 });
    const seen: Record<number, number> = {};
    let before = await records();
    await fc.assert(
      fc.asyncProperty(REQUEST, async (request) => {
        const reply = await send(request);
        seen[reply.status] = (seen[reply.status] ?? 0) + 1;
        expect([200, 201, 409, 422], reply.text).toContain(reply.status);
        if (reply.status === 422) {
          expect(reply.body).toMatchObject({ error: "validation_failed" });
          expect(reply.body.errors.length, reply.text).toBeGreaterThan(0);
        }
        const after = await records();
        if (reply.status >= 400) expect(after).toBe(before);
        before = after;
      }),
      { numRuns: BODIES, seed: 20_260_302 },
    );
    expect(seen[422]).toBeGreaterThan(BODIES / 2);
    expect(seen[200]).toBeGreaterThan(50);
  });
});
