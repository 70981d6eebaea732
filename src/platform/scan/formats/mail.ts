import { pipeline, Readable } from "node:stream";
import { type MimeNode, type SplitterChunk, Splitter } from "@zone-eu/mailsplit";
import { type Bytes, spooled } from "../bytes.ts";
import { type Format, mismatch, type Nest, soundOr } from "../nest.ts";
import { Refusal } from "../port.ts";
import { lookForMalware, lookThrough } from "../signatures.ts";

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

const inspectPart = async (node: MimeNode, bytes: Bytes, nest: Nest): Promise<void> => {
  if (node.rfc822) await nest.inspect(".eml", bytes, nest);
  else if (node.filename !== false || node.contentType === false) {
    await nest.inspectEnclosed(node.filename || "", bytes, nest);
  } else if (node.contentType.startsWith("text/")) {
    await lookThrough(bytes.pieces(), [lookForMalware]);
  } else await nest.inspectEnclosed("", bytes, nest);
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
