import { useEffect, useRef, useState } from "preact/hooks";
import { Board } from "./board/board.tsx";
import { Packet } from "./packet/packet.tsx";
import { useSession } from "./session.ts";
import { startView } from "./start.tsx";

const BACK = "Worklist";

/** The worklist of `disputes_triage`, and the dispute that was chosen in it or asked for by `dispute_packet`. */
const DisputeBoard = () => {
  const { opening } = useSession();
  const isPacket = opening.tool === "dispute_packet";
  const asked = isPacket ? String(opening.args["disputeId"] ?? "") : undefined;
  const [chosen, setChosen] = useState(asked);
  const [isListed, setListed] = useState(!isPacket);
  const opener = useRef<Element | null>(null);
  const open = (code: string) => {
    if (chosen === undefined) opener.current = document.activeElement;
    setChosen(code);
  };
  const close = () => {
    setListed(true);
    setChosen(undefined);
  };
  // The list was hidden, so the focus returns only after it is shown again.
  useEffect(() => {
    if (chosen === undefined && opener.current instanceof HTMLElement) opener.current.focus();
  }, [chosen]);
  return (
    <>
      {isListed && (
        <div hidden={chosen !== undefined}>
          <Board open={open} isShown={chosen === undefined} />
        </div>
      )}
      {chosen !== undefined && (
        <Packet
          key={chosen}
          disputeId={chosen}
          first={chosen === asked ? opening.reply : undefined}
          back={{ text: BACK, go: close }}
          open={open}
        />
      )}
    </>
  );
};

startView("dispute-board", DisputeBoard);
