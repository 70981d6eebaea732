import { Problem } from "../../contract/errors.ts";
import { contract } from "../../contract/index.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { blobOf, MAX_RESOURCE_BYTES } from "../results/file-content.ts";
import { cost, type Fields, truncateToBudget } from "../results/budget.ts";
import type { CallerContext } from "../caller.ts";
import { MARGIN_TOKENS, type Part, truncatePart } from "./part.ts";

type Asked = { tool: string; signal: AbortSignal };
type Content = { mimeType: string; blob: string };

const { accounts, documents, document_attachments: attachments } = contract;

const partOf = (list: unknown): Part => {
  const items = Array.isArray(list) ? (list as Fields[]) : [];
  return { items, total: items.length, truncated: false };
};

/** Accounts and documents with what belongs to them, and the files of documents. */
export const createReadIngest = ({
  broker,
  settings,
}: Pick<CallerContext, "broker" | "settings">) => {
  /** Half of the budget for the record at most, the rest for what belongs to it. */
  const withPart = (name: string, record: Fields, partName: string, part: Part): Fields => {
    const budget = settings.answerTokens - MARGIN_TOKENS;
    const fitted = truncateToBudget(record, Math.floor(budget / 2)).record;
    const left = budget - cost(fitted) - MARGIN_TOKENS;
    return { [name]: fitted, [partName]: truncatePart(part, left) };
  };

  const account = async (account_number: string, asked: Asked): Promise<Fields> => {
    const { output } = await broker.call(accounts.get, { account_number }, asked);
    const { notes, ...record } = output as Fields;
    return withPart("account", record, "notes", partOf(notes));
  };

  const document = async (document_number: string, asked: Asked): Promise<Fields> => {
    const [one, files] = await Promise.all([
      broker.call(documents.get, { document_number }, asked),
      broker.call(attachments.list, { document_number }, asked),
    ]);
    const list = partOf((files.output as Fields)["attachments"]);
    return withPart("document", one.output as Fields, "attachments", list);
  };

  const file = async (document_number: string, id: string, asked: Asked): Promise<Content> => {
    const { output, bytes } = await broker.call(
      attachments.get,
      { document_number, id },
      { ...asked, maxFileBytes: MAX_RESOURCE_BYTES },
    );
    const { mimeType, fileSize } = output as Fields;
    if (bytes !== undefined)
      return { mimeType: sanitizeLine(String(mimeType), 255), blob: blobOf(bytes) };
    throw new Problem(
      "payload_too_large",
      `The file has ${String(fileSize)} bytes; a resource may have ${MAX_RESOURCE_BYTES}.`,
    );
  };

  return { account, document, file };
};
