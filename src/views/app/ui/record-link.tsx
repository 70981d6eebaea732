import type { Open, RecordRef } from "../place.ts";

type LinkProps = { record: RecordRef; text?: string; open: Open | undefined };

/** The number or the name of a record, which opens it where it can be opened. */
export const RecordLink = ({ record, text = record.id, open }: LinkProps) =>
  open === undefined ? (
    <>{text}</>
  ) : (
    <button type="button" class="link" onClick={() => open(record)}>
      {text}
    </button>
  );
