import { sql } from "kysely";
import { LAST_NOTE_CHARACTERS } from "../../../contract/insights/dispute-activity.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import type { DisputeNoteRow, DocumentRow } from "../tables/schema.ts";

/** A dispute's newest events. PostgreSQL gives counts and times as text. */
export type ActivityRow = {
  id: string;
  changed_at: number | string;
  notes: number | string;
  /** Null without notes. */
  note_changed_at: number | string | null;
  attachments: number | string;
  /** Null without attachments. */
  file_changed_at: number | string | null;
  note_content: string | null;
  note_visibility: DisputeNoteRow["visibility"] | null;
  noted_by: string | null;
  noted_at: number | string | null;
  /** Null without a document. */
  document_status: DocumentRow["status"] | null;
  /** The last closing, also of a document that is open again. */
  document_closed_at: number | string | null;
};

type OfDispute = { table: "dispute_notes" | "dispute_attachments"; figure: string };

/** A figure over the rows that belong to the dispute `d`. */
const overRows = ({ table, figure }: OfDispute) =>
  sql`(select ${sql.raw(figure)} from ${sql.table(table)} as o
    where o.tenant_id = d.tenant_id and o.dispute_id = d.id)`;

/** Selects the newest events of disputes; unknown ids are left out. */
export const selectActivity = async (
  db: Db,
  tenantId: string,
  ids: readonly string[],
): Promise<ActivityRow[]> => {
  const [count, newest] = ["count(*)", "max(updated_at)"];
  const { rows } = await sql<ActivityRow>`
    select d.id, d.updated_at as changed_at,
      ${overRows({ table: "dispute_notes", figure: count })} as notes,
      ${overRows({ table: "dispute_notes", figure: newest })} as note_changed_at,
      ${overRows({ table: "dispute_attachments", figure: count })} as attachments,
      ${overRows({ table: "dispute_attachments", figure: newest })} as file_changed_at,
      substr(n.content, 1, ${sql.lit(LAST_NOTE_CHARACTERS)}) as note_content,
      n.visibility as note_visibility, n.created_by as noted_by, n.created_at as noted_at,
      i.status as document_status,
      (select closed_at from document_closures as c
        where c.tenant_id = d.tenant_id and c.document_number = d.document_number
        order by c.number desc limit 1) as document_closed_at
    from disputes as d
    left join documents as i
      on i.tenant_id = d.tenant_id and i.document_number = d.document_number
    left join dispute_notes as n on n.tenant_id = d.tenant_id and n.id = (
      select l.id from dispute_notes as l where l.tenant_id = d.tenant_id and l.dispute_id = d.id
      order by l.created_at desc, l.id desc limit 1)
    where d.tenant_id = ${tenantId} and ${getDialect(db).isAmongKeys("d.id", ids)}`.execute(db);
  return rows;
};
