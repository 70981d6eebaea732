import { getDocument, type PDFDocumentProxy, VerbosityLevel } from "unpdf/pdfjs";
import { mismatch } from "../scan-context.ts";
import { createUnreadableRefusal } from "./lexer.ts";
import { createAttachedRefusal, createEncryptedRefusal, findRefusal } from "./names.ts";
import { checkXmlInvoice, checkXmlName, MAX_XML_FILES } from "./xml-invoice.ts";

const MAX_PAGES = 10_000;

type Info = { EncryptFilterName?: unknown; IsXFAPresent?: unknown; IsCollectionPresent?: unknown };

const refuseIf = (isSo: boolean, name: string): void => {
  if (isSo) throw findRefusal(name) ?? createUnreadableRefusal();
};

const checkAttachments = async (document: PDFDocumentProxy): Promise<void> => {
  const attachments = (await document.getAttachments()) ?? new Map<string, never>();
  if (attachments.size > MAX_XML_FILES) throw createAttachedRefusal();
  for (const [id, { rawFilename }] of attachments) {
    checkXmlName(rawFilename);
    const content = await document.getAttachmentContent(id);
    if (!(content instanceof Uint8Array)) throw createAttachedRefusal();
    checkXmlInvoice(content);
  }
};

const checkDocument = async (document: PDFDocumentProxy): Promise<void> => {
  const info = (await document.getMetadata()).info as Info;
  if ((info.EncryptFilterName ?? null) !== null) throw createEncryptedRefusal();
  refuseIf(info.IsXFAPresent === true, "XFA");
  refuseIf(info.IsCollectionPresent === true, "Collection");
  await checkAttachments(document);
  refuseIf(await document.hasJSActions(), "JavaScript");
  refuseIf((await document.getJSActions()) !== null, "JavaScript");
};

type Annotation = { actions?: unknown; file?: unknown; attachment?: unknown; unsafeUrl?: string };

// Links lead to pages of the document, to the web or to an e-mail address.
const isLink = (url: string | undefined): boolean =>
  url === undefined || /^\s*(?:https?:|mailto:|tel:|#|www\.|[\w.%+-]+@)/i.test(url);

const checkPage = async (document: PDFDocumentProxy, number: number): Promise<void> => {
  const page = await document.getPage(number);
  refuseIf((await page.getJSActions()) !== null, "JavaScript");
  const annotations = (await page.getAnnotations()) as Annotation[];
  for (const { actions, file, attachment, unsafeUrl } of annotations) {
    refuseIf((actions ?? null) !== null, "JavaScript");
    refuseIf((file ?? attachment ?? null) !== null, "FileAttachment");
    refuseIf(!isLink(unsafeUrl), "Launch");
  }
  page.cleanup();
};

const isPasswordError = (error: unknown): boolean =>
  error instanceof Error && error.name === "PasswordException";

/**
 * Opens a PDF by its cross-reference table, as PDF readers do, and refuses scripts, attached files, XFA
 * forms, encryption, and pages that cannot be read. The bytes are transferred: the caller cannot use them
 * afterwards.
 *
 * @throws {Refusal}
 */
export const checkReading = async (data: Uint8Array): Promise<void> => {
  const loading = getDocument({
    data,
    stopAtErrors: true,
    enableXfa: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    const document = await loading.promise.catch((error: unknown) => {
      throw isPasswordError(error) ? createEncryptedRefusal() : createUnreadableRefusal();
    });
    if (document.numPages > MAX_PAGES) throw mismatch(`A PDF may have ${MAX_PAGES} pages at most.`);
    await checkDocument(document);
    for (let number = 1; number <= document.numPages; number += 1) {
      // One page at a time bounds the memory.
      await checkPage(document, number);
    }
  } finally {
    await loading.destroy();
  }
};
