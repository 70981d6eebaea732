import type {
  BankItem,
  Entry,
  EntryPayment,
  LeftOut,
} from "../../src/platform/import/bank/entry.ts";
import type { ReadBankFile, ReaderOptions } from "../../src/platform/import/bank/file.ts";

export type Reading = {
  items: BankItem[];
  entries: Entry[];
  payments: EntryPayment[];
  leftOut: LeftOut[];
  warnings: string[];
};

async function* split(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads a text with a reader of a bank format, in chunks of a size. */
export const readBank = async (
  read: ReadBankFile,
  text: string,
  { options, size = 1000 }: { options?: ReaderOptions; size?: number } = {},
): Promise<Reading> => {
  const warnings: string[] = [];
  const items: BankItem[] = [];
  const warn = (place: string, message: string): void => void warnings.push(`${place} ${message}`);
  for await (const some of read(split(Buffer.from(text), size), warn, options)) items.push(...some);
  const entries = items.filter((item) => "payments" in item);
  return {
    items,
    entries,
    payments: entries.flatMap(({ payments }) => payments),
    leftOut: items.filter((item) => "leftOut" in item),
    warnings,
  };
};
