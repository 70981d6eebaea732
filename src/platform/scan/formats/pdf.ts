import { checkReading } from "../pdf/document.ts";
import { createUnreadableRefusal } from "../pdf/lexer.ts";
import { checkObjects } from "../pdf/objects.ts";
import { Refusal } from "../port.ts";
import { type Format, mismatch } from "../scan-context.ts";

const HEAD = "%PDF-";
const END = "%%EOF";
// PDF readers look for the end marker in the last KiB.
const TAIL_BYTES = 1024;

export const checkPdf: Format = async (bytes, nest) => {
  const head = await bytes.read(0, HEAD.length);
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin with %PDF-.");
  const tail = await bytes.read(Math.max(0, bytes.size - TAIL_BYTES), TAIL_BYTES);
  if (!tail.includes(END)) throw mismatch("The PDF is cut off: %%EOF is missing at its end.");
  // Copied: the reader transfers its buffer, and one from the pool cannot be transferred.
  const data = Uint8Array.from(await bytes.read(0, bytes.size));
  try {
    nest.budget.bytes(checkObjects(Buffer.from(data.buffer)));
    await checkReading(data);
  } catch (error) {
    throw error instanceof Refusal ? error : createUnreadableRefusal();
  }
};
