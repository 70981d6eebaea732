import { useEffect, useRef } from "preact/hooks";
import { Board } from "./board/board.tsx";
import { plainText } from "./format.ts";
import { type Place, type RecordRef, usePlace } from "./place.ts";
import { RecordView } from "./records/record.tsx";
import { type Opening, useSession } from "./session.ts";
import { startView } from "./start.tsx";

const BACK = "Worklist";

const firstPlace = ({ tool, args }: Opening): Place =>
  tool === "dispute_packet"
    ? { record: { kind: "dispute", id: plainText(args["disputeId"]) } }
    : { args };

/** The worklist of `disputes_triage`, and the record that was chosen in it or asked for by `dispute_packet`. */
const DisputeBoard = () => {
  const { opening } = useSession();
  const first = firstPlace(opening);
  const { place, go } = usePlace(first);
  const { record } = place;
  /** The last place of the worklist, to which the way back leads. */
  const list = useRef<Place | undefined>(undefined);
  if (record === undefined) list.current = place;
  const opener = useRef<Element | null>(null);
  const open = (next: RecordRef): void => {
    if (record === undefined) opener.current = document.activeElement;
    go({ ...list.current, record: next });
  };
  // The list was hidden, so the focus returns only after it is shown again.
  useEffect(() => {
    if (record === undefined && opener.current instanceof HTMLElement) opener.current.focus();
  }, [record]);
  const isFirst = record !== undefined && record.id === first.record?.id;
  return (
    <>
      {list.current !== undefined && (
        <div hidden={record !== undefined}>
          <Board place={list.current} go={go} open={open} isShown={record === undefined} />
        </div>
      )}
      {record !== undefined && (
        <RecordView
          key={`${record.kind} ${record.id}`}
          record={record}
          first={isFirst ? opening.reply : undefined}
          back={{ text: BACK, go: () => go({ ...list.current, record: undefined }) }}
          open={open}
        />
      )}
    </>
  );
};

startView("dispute-board", DisputeBoard);
