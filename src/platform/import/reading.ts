import { readBai2 } from "./bank/bai2.ts";
import { readCamt } from "./bank/camt.ts";
import { readEdi820 } from "./bank/edi820.ts";
import { readMt940 } from "./bank/mt940.ts";
import type { BankItem } from "./bank/entry.ts";
import type { ReadBankFile, ReaderOptions, Warn } from "./bank/file.ts";
import { type BankFormat, type Format, isBankFormat } from "./formats.ts";
import type { Fields } from "./fields.ts";
import type { Item } from "./items.ts";
import type { ImportMap } from "./map.ts";
import type { Spool } from "./spool.ts";
import { openTable } from "./table.ts";

const BANK_READERS: Record<BankFormat, ReadBankFile> = {
  bai2: readBai2,
  camt: readCamt,
  edi820: readEdi820,
  mt940: readMt940,
};

/** An open file; `columns` is valid after the first items were read. */
export type Reading = {
  columns(): readonly string[] | null;
  items(): AsyncIterable<Item[]>;
};

export type FileNeeds = {
  format: Format;
  /** Opens the file from its start, as UTF-8 unless the format is binary. */
  bytes: () => AsyncIterable<Uint8Array>;
  map: ImportMap | undefined;
  /** Only for a bank file: the first pass fills it, and later ones read it in place of the file. */
  spool?: Spool | undefined;
  /** See {@link ReaderOptions}. */
  hasFormer?: boolean;
};

const toOptions = ({ map, hasFormer }: FileNeeds): ReaderOptions => ({
  take: map?.take ?? [],
  leaveOut: map?.leaveOut ?? [],
  hasFormer,
});

const toItems = (item: BankItem): Item[] =>
  "leftOut" in item
    ? [item]
    : item.payments.map((payment) => ({ line: payment.line, entry: item, payment }));

async function* readBankFile(format: BankFormat, needs: FileNeeds, warn: Warn) {
  const { bytes, spool } = needs;
  const read = (heed: Warn) => BANK_READERS[format](bytes(), heed, toOptions(needs));
  const kept = spool?.isComplete() === true ? spool.replay(warn) : spool?.fill(read);
  for await (const items of kept ?? read(warn)) yield items.flatMap(toItems);
}

/** Opens a file for one pass over its items. */
export const openFile = (needs: FileNeeds, fields: Fields, warn: Warn): Reading => {
  const { format, bytes, map } = needs;
  if (isBankFormat(format)) {
    return { columns: () => null, items: () => readBankFile(format, needs, warn) };
  }
  return openTable(format, bytes, { fields, map, warn });
};
