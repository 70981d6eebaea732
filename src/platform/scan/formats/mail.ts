import { pipeline, Readable } from "node:stream";
import { type MimeNode, type SplitterChunk, Splitter } from "@zone-eu/mailsplit";
import { type Bytes, withSpooledFile } from "../bytes.ts";
import { type Extension, FILE_TYPES } from "../../../contract/file-types.ts";
import { type Format, mismatch, type ScanContext, parseOrRefuse } from "../scan-context.ts";
import { parseClaimedType } from "../name-and-size.ts";
import { Refusal } from "../port.ts";
import { type Detector, detectMalware, detectPrograms, runDetectors } from "../signatures.ts";

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
    throw mismatch("The file does not begin with the header of an e-mail.");
  }
};

type Chunks = AsyncIterator<SplitterChunk>;

/** Yields one part's encoded bytes; it ends at the next part and passes that to `next`. */
async function* readBody(chunks: Chunks, next: (node: MimeNode) => void): AsyncGenerator<Buffer> {
  for (;;) {
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
/** Content types of unnamed parts that mail programs show as text, and of signatures. */
const BODIES =
  /^(?:text\/(?:plain|html|calendar|rfc822-headers)|message\/(?:delivery-status|disposition-notification)|application\/(?:(?:x-)?pkcs7|pgp)-signature)$/;
const SIGNATURE_NAME = /^(?:smime\.p7s|signature\.asc)$/i;
/** Mail programs unpack uuencoded files from plain text. */
const UUENCODED = /(?:^|\n)begin(?:-base64)? [0-7]{3,4} /;

const detectUuencoded: Detector = (text) => {
  if (UUENCODED.test(text)) throw mismatch("The e-mail holds a file within its text.");
};

type Libmime = {
  parseHeaderValue(text: string): { params: Record<string, string | undefined> };
  decodeWords(text: string): string;
};

/** Lists every name of a part: mail programs differ in which one they save the file under. */
const listNames = (node: MimeNode): string[] => {
  // Each node has the library's header parser, which its types do not declare.
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

/** Returns the type of a part's name, or of its content type if it has no name. */
const parsePartType = (name: string | undefined, contentType: string): Extension => {
  const jpeg = (text: string) => text.replace(/\.jpe?g$/i, ".jpeg");
  if (name !== undefined) return parseClaimedType(jpeg(name));
  const found = Object.entries(FILE_TYPES).find(([, type]) => type === contentType);
  if (found === undefined) throw mismatch("The e-mail contains a part whose type is not allowed.");
  return found[0] as Extension;
};

const inspectPart = async (node: MimeNode, bytes: Bytes, nest: ScanContext): Promise<void> => {
  await runDetectors(bytes.pieces(), [detectMalware, detectPrograms]);
  if (!ENCODINGS.has(node.encoding || ""))
    throw mismatch("The e-mail uses an unknown Content-Transfer-Encoding.");
  const contentType = node.contentType || "text/plain";
  const names = listNames(node);
  const isBody = names.length === 0 && BODIES.test(contentType);
  const isSignature = names.every((name) => SIGNATURE_NAME.test(name)) && BODIES.test(contentType);
  if (node.multipart || isBody || isSignature) {
    return runDetectors(bytes.pieces(), [detectUuencoded]);
  }
  const types = new Set(
    (names.length === 0 ? [undefined] : names).map((name) => parsePartType(name, contentType)),
  );
  const [type, ...others] = types;
  if (type === undefined || others.length > 0) {
    throw mismatch("The e-mail contains a file with two names of different types.");
  }
  return nest.inspect(type, bytes, nest);
};

const inspectParts = async (chunks: Chunks, nest: ScanContext): Promise<void> => {
  const first = await chunks.next();
  let node = first.done === true ? undefined : (first.value as MimeNode);
  while (node !== undefined) {
    const part: MimeNode = node;
    node = undefined;
    const body = Readable.from(
      readBody(chunks, (next) => {
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
    // One at a time bounds the space on disk.
    await withSpooledFile(counted(), (bytes) => inspectPart(part, bytes, nest));
  }
};

/** Checks an e-mail and all its attachments, including attached e-mails. */
export const checkMail: Format = async (bytes, nest) => {
  const mails = nest.mails + 1;
  if (mails > MAX_MAILS) {
    throw new Refusal("ARCHIVE_LIMIT", `E-mails may be nested ${MAX_MAILS} deep at most.`);
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
    await parseOrRefuse("The e-mail is broken, or has too many parts.", () =>
      inspectParts(splitter[Symbol.asyncIterator](), { ...nest, mails }),
    );
  } finally {
    source.destroy();
    splitter.destroy();
  }
};
