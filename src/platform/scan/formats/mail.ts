import { pipeline, Readable } from "node:stream";
import { type MimeNode, type SplitterChunk, Splitter } from "@zone-eu/mailsplit";
import { type Bytes, spooled } from "../bytes.ts";
import { type Extension, FILE_TYPES } from "../../../contract/file-types.ts";
import { type Format, mismatch, type Nest, soundOr } from "../nest.ts";
import { claimedType } from "../outside.ts";
import { Refusal } from "../port.ts";
import { type Look, lookForMalware, lookForPrograms, lookThrough } from "../signatures.ts";

const MAX_MAILS = 5;
const MAX_PARTS = 1000;
const MAX_HEAD_BYTES = 256 * 1024;
const HEAD_BYTES = 16 * 1024;

const FIELD = /^(?:From [^\r\n]+\r?\n)?(?:[!-9;-~]+:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*\r?\n)+/;
const KNOWN_FIELD =
  /^(?:from|to|cc|subject|date|received|message-id|mime-version|return-path|delivered-to):/im;

const checkHead = async (bytes: Bytes): Promise<void> => {
  const head = (await bytes.read(0, HEAD_BYTES)).toString("latin1");
  const [fields = ""] = FIELD.exec(head) ?? [];
  if (!KNOWN_FIELD.test(fields) || head.includes("\0")) {
    throw mismatch("The file does not begin like an e-mail.");
  }
};

type Chunks = AsyncIterator<SplitterChunk>;

/** One part's bytes as they were sent; it stops at the next part, and hands that over. */
async function* bodyOf(chunks: Chunks, next: (node: MimeNode) => void): AsyncGenerator<Buffer> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { done, value } = await chunks.next();
    if (done === true) return;
    if (value.type === "node") {
      next(value);
      return;
    }
    if (value.type === "body") yield value.value;
  }
}

const ENCODINGS = new Set(["", "7bit", "8bit", "binary", "base64", "quoted-printable"]);
/** Types of parts without a name that are shown as text, or sign the others. */
const BODIES =
  /^(?:text\/(?:plain|html|calendar|rfc822-headers)|message\/(?:delivery-status|disposition-notification)|application\/(?:(?:x-)?pkcs7|pgp)-signature)$/;
const SIGNATURE_NAME = /^(?:smime\.p7s|signature\.asc)$/i;
/** Mail programs unpack such a file from the text itself. */
const UUENCODED = /(?:^|\n)begin(?:-base64)? [0-7]{3,4} /;

const lookForUuencoded: Look = (text) => {
  if (UUENCODED.test(text)) throw mismatch("The e-mail holds a file within its text.");
};

type Libmime = {
  parseHeaderValue(text: string): { params: Record<string, string | undefined> };
  decodeWords(text: string): string;
};

/** Every name that a part gives itself: mail programs differ in which of them they save it under. */
const namesOf = (node: MimeNode): string[] => {
  // Each part carries the header parser of the library; its types do not say so.
  const { libmime } = node as unknown as { libmime: Libmime };
  const headers = node.headers === false ? [] : node.headers.getDecoded("content-type");
  const placed = node.headers === false ? [] : node.headers.getDecoded("content-disposition");
  const params = [...headers, ...placed].flatMap(({ value }) => {
    const { params } = libmime.parseHeaderValue(value);
    return [params["name"], params["filename"]];
  });
  const names = [node.filename, ...params].flatMap((name) =>
    typeof name === "string" && name !== "" ? [libmime.decodeWords(name)] : [],
  );
  return [...new Set(names)];
};

/** The type that a part's name claims, or its content type where it has no name. */
const partType = (name: string | undefined, contentType: string): Extension => {
  const jpeg = (text: string) => text.replace(/\.jpe?g$/i, ".jpeg");
  if (name !== undefined) return claimedType(jpeg(name));
  const found = Object.entries(FILE_TYPES).find(([, type]) => type === contentType);
  if (found === undefined)
    throw mismatch("The e-mail brings a part of a kind that is not allowed.");
  return found[0] as Extension;
};

const inspectPart = async (node: MimeNode, bytes: Bytes, nest: Nest): Promise<void> => {
  await lookThrough(bytes.pieces(), [lookForMalware, lookForPrograms]);
  if (!ENCODINGS.has(node.encoding || ""))
    throw mismatch("The e-mail is encoded in an unusual way.");
  const contentType = node.contentType || "text/plain";
  const names = namesOf(node);
  const isBody = names.length === 0 && BODIES.test(contentType);
  const isSignature = names.every((name) => SIGNATURE_NAME.test(name)) && BODIES.test(contentType);
  if (node.multipart || isBody || isSignature) {
    return lookThrough(bytes.pieces(), [lookForUuencoded]);
  }
  const types = new Set(
    (names.length === 0 ? [undefined] : names).map((name) => partType(name, contentType)),
  );
  const [type, ...others] = types;
  if (type === undefined || others.length > 0) {
    throw mismatch("The e-mail brings a file under two names of different kinds.");
  }
  return nest.inspect(type, bytes, nest);
};

const inspectParts = async (chunks: Chunks, nest: Nest): Promise<void> => {
  const first = await chunks.next();
  let node = first.done === true ? undefined : (first.value as MimeNode);
  while (node !== undefined) {
    const part: MimeNode = node;
    node = undefined;
    const body = Readable.from(
      bodyOf(chunks, (next) => {
        node = next;
      }),
    );
    const decoder = part.getDecoder();
    pipeline(body, decoder, () => {});
    const counted = async function* counted(): AsyncGenerator<Buffer> {
      for await (const piece of decoder as AsyncIterable<Buffer>) {
        nest.budget.bytes(piece.byteLength);
        yield piece;
      }
    };
    nest.budget.file();
    // oxlint-disable-next-line no-await-in-loop -- one at a time bounds what is kept
    await spooled(counted(), (bytes) => inspectPart(part, bytes, nest));
  }
};

/** A mail with everything that came with it, mails among it. */
export const checkMail: Format = async (bytes, nest) => {
  const mails = nest.mails + 1;
  if (mails > MAX_MAILS) {
    throw new Refusal("ARCHIVE_LIMIT", `E-mails may lie ${MAX_MAILS} deep in each other at most.`);
  }
  await checkHead(bytes);
  const splitter = new Splitter({
    ignoreEmbedded: true,
    maxHeadSize: MAX_HEAD_BYTES,
    maxChildNodes: MAX_PARTS,
  });
  const source = Readable.from(bytes.pieces());
  pipeline(source, splitter, () => {});
  try {
    await soundOr("The e-mail is broken, or has too many parts.", () =>
      inspectParts(splitter[Symbol.asyncIterator](), { ...nest, mails }),
    );
  } finally {
    source.destroy();
    splitter.destroy();
  }
};
