import type { Db, Snapshot } from "../port.ts";

const TABLES = ["dispute_attachments", "document_attachments", "run_chunks"] as const;
/** The tables whose files count against the quota: saved tables, too, which no backup or export has. */
const COUNTED = [...TABLES, "saved_files"] as const;
type Table = (typeof COUNTED)[number];

/** Returns those of a tenant's file keys that a row of the table has. */
export const findFileKeys = async (
  db: Db,
  table: Table,
  tenantId: string,
  keys: readonly string[],
): Promise<string[]> => {
  const rows = await db
    .selectFrom(table)
    .select("file_key")
    .where("tenant_id", "=", tenantId)
    .where("file_key", "in", keys)
    .execute();
  return rows.flatMap(({ file_key }) => file_key ?? []);
};

/** Returns the keys of all files that a tenant's rows have. */
export const listFileKeys = async (db: Db, tenantId: string): Promise<string[]> => {
  const keys: string[] = [];
  for (const table of TABLES) {
    const rows = await db
      .selectFrom(table)
      .select("file_key")
      .where("tenant_id", "=", tenantId)
      .where("file_key", "is not", null)
      .execute();
    keys.push(...rows.flatMap(({ file_key }) => file_key ?? []));
  }
  return keys;
};

/** Sums the sizes of a tenant's stored files: attachments of disputes, PDFs of documents, chunks of runs, saved tables. */
export const countStoredBytes = async (db: Db, tenantId: string): Promise<number> => {
  const sums = await Promise.all(
    COUNTED.map((table) =>
      db
        .selectFrom(table)
        .select((of) => of.fn.sum<number | string | null>("file_size").as("bytes"))
        .where("tenant_id", "=", tenantId)
        .where("file_key", "is not", null)
        .executeTakeFirst(),
    ),
  );
  return sums.reduce((sum, row) => sum + Number(row?.bytes ?? 0), 0);
};

/** Yields the files that a tenant's records refer to. */
export async function* streamFiles(
  { db, stream }: Pick<Snapshot, "db" | "stream">,
  tenantId: string,
) {
  for (const table of TABLES) {
    const query = db
      .selectFrom(table)
      .select(["file_key", "sha256", "file_size"])
      .where("tenant_id", "=", tenantId)
      .where("file_key", "is not", null);
    for await (const { file_key: key, sha256, file_size: size } of stream(query)) {
      if (key !== null) yield { key, sha256, size: size ?? 0 };
    }
  }
}
