import type { SealedColumn } from "../kit/sealed-column.ts";
import type { Db } from "./port.ts";

/** The sealed payloads of the records. */
export const SEALED_PAYLOADS: SealedColumn<Db> = {
  async list(tx, after, most) {
    const rows = await tx
      .selectFrom("sign_in_records")
      .select(["kind", "id", "payload"])
      .where("payload", "<>", "")
      .$if(after !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple("kind", "id"), ">", tuple(after?.["kind"] ?? "", after?.["id"] ?? "")),
        ),
      )
      .orderBy("kind")
      .orderBy("id")
      .limit(most)
      .execute();
    return rows.map(({ payload, ...key }) => ({ key, sealed: payload }));
  },
  async replace(tx, { key, sealed: former }, payload) {
    await tx
      .updateTable("sign_in_records")
      .set({ payload })
      .where("kind", "=", key["kind"] ?? "")
      .where("id", "=", key["id"] ?? "")
      .where("payload", "=", former)
      .execute();
  },
};
