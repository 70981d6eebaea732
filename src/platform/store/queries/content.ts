import { listApplied } from "../engine/program-versions.ts";
import { listFileKeys } from "./stored-files.ts";
import type { Db } from "../port.ts";

/** The parts of a database that a backup depends on. */
export type StoreContent = {
  /** The steps of its schema. */
  schema: string[];
  tenants: number;
  /** The keys of the files that its rows refer to. */
  fileKeys: string[];
};

/** Reads what a backup of a database must have. */
export const readContent = async (db: Db): Promise<StoreContent> => {
  const tenants = await db.selectFrom("tenants").select("id").execute();
  const fileKeys: string[] = [];
  for (const { id } of tenants) {
    for (const key of await listFileKeys(db, id)) fileKeys.push(key);
  }
  return { schema: await listApplied(db), tenants: tenants.length, fileKeys };
};
