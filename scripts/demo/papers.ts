import { z } from "zod";
import type { Picks, Work } from "./look.ts";
import type { Dispute } from "./records.ts";
import { accountOf, dateOf, money } from "./words.ts";

const Document = z.object({
  documentNumber: z.string(),
  invoice_date: z.string(),
  due_date: z.string(),
  original_denomination: z.number(),
  denomination: z.number(),
});

const File = z.object({ attachmentId: z.string(), fileName: z.string(), status: z.string() });
type File = z.infer<typeof File>;

const Pdfs = z.object({ attachments: z.array(z.object({ id: z.string() })) });
const Text = z.object({ fileName: z.string(), text: z.string() });

const LOOKED_AT = 4;
const QUOTED = 400;

type Looked = { dispute: Dispute; document: z.infer<typeof Document>; files: File[]; pdfs: number };

const lookAt = async ({ session }: Work, disputes: readonly Dispute[]): Promise<Looked[]> => {
  const documents: Looked["document"][] = [];
  for (const { documentNumber: document_number } of disputes) {
    documents.push(await session.call("documents_get", { document_number }, Document));
  }
  const pdfs: number[] = [];
  for (const { documentNumber: document_number } of disputes) {
    const asked = { document_number };
    pdfs.push((await session.call("document_attachments_list", asked, Pdfs)).attachments.length);
  }
  const files: File[][] = [];
  for (const { disputeId } of disputes) {
    files.push((await session.all("dispute_attachments_list", { disputeId }, File)).items);
  }
  return disputes.flatMap((dispute, place) => {
    const document = documents[place];
    if (document === undefined) return [];
    return [{ dispute, document, files: files[place] ?? [], pdfs: pdfs[place] ?? 0 }];
  });
};

const filesOf = ({ files, pdfs }: Looked): string =>
  [...(pdfs > 0 ? ["the invoice"] : []), ...files.map(({ fileName }) => fileName)].join(", ") ||
  "none";

const isMail = ({ fileName }: File): boolean => fileName.endsWith(".eml");

/** Reads a received e-mail as text; the answer marks it as foreign content. */
const readMail = async (
  work: Work,
  candidates: readonly Dispute[],
): Promise<string | undefined> => {
  const { session, out } = work;
  for (const dispute of candidates) {
    const { disputeId } = dispute;
    const { items } = await session.all("dispute_attachments_list", { disputeId }, File);
    const mail = items.find(isMail);
    if (mail === undefined) continue;
    const one = { disputeId, attachmentId: mail.attachmentId };
    const { text, fileName } = await session.call("dispute_attachments_download", one, Text);
    const body = text.slice(text.indexOf("\n\n")).trim();
    out.say(`${fileName}, sent with ${dispute.disputeCode}:`);
    out.quote(accountOf(dispute), body.slice(0, QUOTED));
    return fileName;
  }
  return undefined;
};

/** Sets what is claimed beside what was billed, and reads what the customer has sent. */
export const readPapers = async (
  work: Work,
  { unassigned, orphaned, pairs }: Picks,
  open: readonly Dispute[],
): Promise<void> => {
  const { out } = work;
  out.begin("papers", "Look at the invoices and files behind the largest ones");
  const largest = [...unassigned.slice(0, LOOKED_AT), ...orphaned.slice(0, 1)];
  const looked = await lookAt(work, largest);
  out.table(
    ["Dispute", "Claimed", "Billed", "Still open", "Due", "Files"],
    looked.map((one) => [
      one.dispute.disputeCode,
      money(one.dispute),
      money({ ...one.dispute, amount: one.document.original_denomination }),
      money({ ...one.dispute, amount: one.document.denomination }),
      dateOf(one.document.due_date),
      filesOf(one),
    ]),
    [1, 2, 3],
  );
  const over = looked.filter(({ dispute, document }) => dispute.amount > document.denomination);
  out.say(over.length === 0 ? "None claims more than is open." : `${over.length} claim too much.`);
  out.say("");
  const mail = await readMail(work, [...pairs.map(({ kept }) => kept), ...unassigned, ...open]);
  if (mail === undefined) throw new Error("None of the open disputes has a mail.");
  out.result({
    documents: looked.map(({ dispute, document, files, pdfs }) => ({
      dispute: dispute.disputeCode,
      claimed: dispute.amount,
      open: document.denomination,
      files: files.length + pdfs,
    })),
    over: over.length,
    mail,
  });
  out.end();
};
