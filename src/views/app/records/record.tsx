import { AccountOverview } from "../account/overview.tsx";
import { Packet } from "../packet/packet.tsx";
import type { Open, RecordRef } from "../place.ts";
import type { Reply } from "../reply.ts";
import { DocumentSheet } from "./document.tsx";

type RecordProps = {
  record: RecordRef;
  /** The answer, if the host has sent it with the view. */
  first?: Reply | undefined;
  back: { text: string; go: () => void };
  open: Open;
};

/** Shows a record alone, with the way back. */
export const RecordView = ({ record: { kind, id }, first, back, open }: RecordProps) => (
  <>
    <button type="button" class="link back" onClick={back.go}>
      ‹ {back.text}
    </button>
    {kind === "dispute" && <Packet disputeId={id} first={first} open={open} />}
    {kind === "account" && <AccountOverview account={id} first={first} open={open} />}
    {kind === "document" && <DocumentSheet id={id} open={open} />}
  </>
);
