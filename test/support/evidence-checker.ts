import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";

// A second checker of evidence, written from docs/evidence.md alone. It imports nothing of the program.
type Values = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- lines of JSON

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const isSigned = (spki: string, values: readonly unknown[], signature: string): boolean => {
  const key = createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });
  return verify(null, Buffer.from(JSON.stringify(values)), key, Buffer.from(signature, "base64"));
};

/** Adds the keys that trusted ones vouch for, forwards and backwards. */
const trustKeys = (trusted: Set<string>, keys: readonly Values[]): void => {
  for (const [index, { publicKey: own, signedByFormer, signsFormer }] of keys.entries()) {
    const former: string = keys[index - 1]?.["publicKey"] ?? "";
    const [next, back] = [
      ["receivables-next-key", own],
      ["receivables-former-key", former],
    ];
    if (trusted.has(former) && isSigned(former, next, signedByFormer)) trusted.add(own);
    if (former !== "" && trusted.has(own) && isSigned(own, back, signsFormer)) trusted.add(former);
  }
};

/** Returns null for whole evidence; else what is wrong, with the id of the entry. `kept`: heads that the auditor has. */
export const checkEvidence = (path: string, pem: string, kept: Values[] = []): string | null => {
  const text = readFileSync(path, "utf8").trimEnd();
  const lines = text.split("\n").map((line) => JSON.parse(line) as Values);
  const of = (type: string): Values[] => lines.filter((line) => line["type"] === type);
  const range = lines.at(-1);
  if (range?.["type"] !== "range" || of("range").length > 1) return "the end";
  const given = createPublicKey(pem).export({ format: "der", type: "spki" }).toString("base64");
  const trusted = new Set([given]);
  for (const _key of of("key")) trustKeys(trusted, of("key"));
  const holds = ({ key, signature }: Values, values: readonly unknown[]): boolean =>
    [...trusted]
      .filter((spki) => sha256(Buffer.from(spki, "base64")).startsWith(key))
      .some((spki) => isSigned(spki, values, signature));
  const { tenantId, from, to, before, end, firstId, lastId, signedAt } = range;
  const ends = [before.seq, before.link, end.seq, end.link, firstId, lastId];
  if (!holds(range, ["receivables-range", tenantId, from, to, ...ends, signedAt])) return "the end";
  if (range["key"] !== of("key").at(-1)?.["id"]) return "a replaced key";
  let [seq, link]: [number, string] = [before.seq, before.link];
  const links = new Map<number, string>([[seq, link]]);
  for (const { entry, link: claimed } of of("entry")) {
    link = sha256(`${link}\n${JSON.stringify(entry)}`);
    if (entry[0] !== tenantId || entry[1] !== seq + 1 || link !== claimed) return entry[2];
    links.set((seq = entry[1]), link);
  }
  if (seq !== end.seq || link !== end.link) return lastId;
  for (const head of [...of("head"), ...kept]) {
    const { tenantId: of, seq: last, link: claimed, signedAt: at } = head;
    if (!holds(head, ["receivables-head", of, last, claimed, at])) return `head ${last}`;
    if (of !== tenantId || (links.get(last) ?? claimed) !== claimed) return `head ${last}`;
  }
  return null;
};
