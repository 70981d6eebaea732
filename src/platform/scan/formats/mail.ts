import { once } from "node:events";
import { pipeline, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type MimeNode, type SplitterChunk, Splitter } from "@zone-eu/mailsplit";
import { type Bytes, fromBuffer } from "../../../kit/bytes.ts";
import { readUuencoded } from "../../formats/uuencode.ts";
import { checkContained, checkContainedName, createPageRefusal } from "../contained.ts";
import { isWebPageName } from "../names.ts";
import { checkPart, deepen, mismatch, parseOrRefuse } from "../scan-context.ts";
import type { Format, ScanContext } from "../scan-context.ts";
import { detectMalware, detectPrograms, runDetectors } from "../signatures.ts";

const MAX_MAILS = 5;
const MAX_PARTS = 1000;
const MAX_HEAD_BYTES = 256 * 1024;
const HEAD_BYTES = 64 * 1024;

const FIRST_FIELD = /^(?:>?From [^\n]{1,998}\n)?[!-9;-~]{1,200}:/;
const KNOWN_FIELD =
  /^(?:from|to|cc|subject|date|received|message-id|mime-version|return-path|delivered-to|content-type):/im;

const checkHead = async (bytes: Bytes): Promise<void> => {
  const text = (await bytes.read(0, HEAD_BYTES)).toString("latin1").replace(/^\xef\xbb\xbf/, "");
  const [head = ""] = text.trimStart().split(/\r?\n\r?\n/, 1);
  if (!FIRST_FIELD.test(head) || !KNOWN_FIELD.test(head) || head.includes("\0")) {
    throw mismatch("The file does not begin with the header of an e-mail.");
  }
};

const ENCODINGS = /^(?:|7bit|8bit|binary|base64|quoted-printable)$/;
const UUENCODING = /^(?:x-)?uu(?:e|encode)?$/;
const MESSAGE = /^message\/(?:rfc822|global)$/;
/** Content types that mail programs show as text, or that describe the mail. */
const BODY = /^(?:text\/|message\/|multipart\/|application\/(?:(?:x-)?pkcs7|pgp)-signature$)/;
const SIGNATURE = /^(?:smime\.p7s|signature\.asc)$/i;

type Libmime = {
  parseHeaderValue(text: string): { value: string; params: Record<string, string | undefined> };
  decodeWords(text: string): string;
};

type Part = { names: string[]; contentType: string; isAttachment: boolean };

/** Reads every name of a part: mail programs differ in which one they save the file under. */
const readPart = (node: MimeNode): Part => {
  // Each node has the library's header parser, which its types do not declare.
  const { libmime } = node as unknown as { libmime: Libmime };
  const read = (field: string) =>
    node.headers === false
      ? []
      : node.headers.getDecoded(field).map(({ value }) => libmime.parseHeaderValue(value));
  const placed = read("content-disposition");
  const params = [...read("content-type"), ...placed].flatMap(({ params }) => [
    params["name"],
    params["filename"],
  ]);
  const names = [node.filename, ...params].flatMap((name) =>
    typeof name === "string" && name !== "" ? [libmime.decodeWords(name)] : [],
  );
  return {
    names: [...new Set(names)],
    contentType: (node.contentType || "text/plain").toLowerCase(),
    isAttachment: placed.some(({ value }) => !/^\s*inline/i.test(value)),
  };
};

/** Checks a text, and the uuencoded files in it, which mail programs unpack. */
const checkBody = async (bytes: Bytes, nest: ScanContext): Promise<void> => {
  await runDetectors(bytes.pieces(), [detectMalware, detectPrograms]);
  for (const { name, content } of readUuencoded(await bytes.read(0, bytes.size))) {
    nest.budget.part();
    nest.budget.bytes(content.byteLength);
    await checkPart(name, nest, (inner) => checkContained([name], fromBuffer(content), inner));
  }
};

const inspectPart = async (
  node: MimeNode,
  { names, contentType, isAttachment }: Part,
  bytes: Bytes,
  nest: ScanContext,
): Promise<void> => {
  if (node.multipart) return checkBody(bytes, nest);
  const isPage = /^(?:text\/html|application\/xhtml)/.test(contentType);
  const isNamed = isAttachment || names.length > 0;
  if ((isPage && isNamed) || names.some(isWebPageName)) throw createPageRefusal();
  for (const name of names) checkContainedName(name);
  const encoding = node.encoding || "";
  if (UUENCODING.test(encoding)) return checkBody(bytes, nest);
  if (!ENCODINGS.test(encoding)) {
    return nest.warn("UNREADABLE_PART", `not checked, because of its encoding ${encoding}.`);
  }
  if (MESSAGE.test(contentType)) return nest.inspect(".eml", bytes, nest);
  if (BODY.test(contentType) && (!isNamed || names.some((name) => SIGNATURE.test(name)))) {
    return checkBody(bytes, nest);
  }
  return checkContained(names, bytes, nest);
};

/** Begins to decode a part; `decoded` resolves once `decoder` has ended. */
const begin = (node: MimeNode, decoder = node.getDecoder()) => ({
  node,
  decoder,
  decoded: buffer(decoder),
});
type Arriving = ReturnType<typeof begin>;

const finish = async ({ node, decoder, decoded }: Arriving, nest: ScanContext): Promise<void> => {
  decoder.end();
  const bytes = await decoded;
  nest.budget.part();
  nest.budget.bytes(bytes.byteLength);
  const part = readPart(node);
  const label = part.names[0] ?? `the part ${part.contentType}`;
  await checkPart(label, nest, (inner) => inspectPart(node, part, fromBuffer(bytes), inner));
};

const inspectParts = async (source: Readable, nest: ScanContext): Promise<void> => {
  const limits = { maxHeadSize: MAX_HEAD_BYTES, maxChildNodes: MAX_PARTS };
  const splitter = pipeline(source, new Splitter({ ignoreEmbedded: true, ...limits }), () => {});
  let arriving: Arriving | undefined;
  for await (const chunk of splitter as AsyncIterable<SplitterChunk>) {
    if (chunk.type === "node") {
      if (arriving !== undefined) await finish(arriving, nest);
      arriving = begin(chunk);
    } else if (chunk.type === "body" && arriving?.decoder.write(chunk.value) === false) {
      await once(arriving.decoder, "drain");
    }
  }
  if (arriving !== undefined) await finish(arriving, nest);
};

/** Checks an e-mail and all its attachments, including attached e-mails. */
export const checkMail: Format = async (bytes, outer) => {
  const nest = deepen(outer, "mails", MAX_MAILS);
  await checkHead(bytes);
  await parseOrRefuse("The e-mail is broken, or has too many parts.", () =>
    inspectParts(Readable.from(bytes.pieces()), nest),
  );
};
