import { useState } from "preact/hooks";
import { listOf } from "../answers.ts";
import { counted, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { AssignDialog, CloseDialog, closing } from "../packet/actions.tsx";
import { hasTool } from "../session.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/status.tsx";
import { useAction } from "../ui/use-action.tsx";
import { useCall } from "../ui/use-call.ts";

type BulkProps = { selected: ReadonlySet<string>; done: () => void };

const describeResults = ({ results, applied }: Fields): string => {
  const refused = listOf(results).filter(({ outcome }) => outcome === "refused");
  const text = `${counted(Number(applied ?? 0), "dispute")} changed.`;
  const reasons = refused.map(
    (one) => `${plainText(one["disputeCode"])}: ${plainText(one["message"])}`,
  );
  return [text, ...reasons].join(" ");
};

/** Changes the chosen disputes at once, by `disputes_apply`. */
export const BulkActions = ({ selected, done }: BulkProps) => {
  const { run, isBusy, report } = useAction();
  const [act, setAct] = useState<"assign" | "close">();
  const { answer, problem, reload } = useCall("resolutions_list", act === "close" ? {} : undefined);
  const resolutions = listOf(answer?.["items"]).filter(({ active }) => active !== false);
  const apply = async (change: Fields): Promise<void> => {
    setAct(undefined);
    const changes = [...selected].map((disputeId) => ({ disputeId, change }));
    if (await run({ tool: "disputes_apply", args: { changes }, done: describeResults })) done();
  };
  const title = counted(selected.size, "dispute");
  const close = () => setAct(undefined);
  if (!hasTool("disputes_apply")) return null;
  return (
    <>
      {selected.size > 0 && (
        <div class="toolbar sticky" role="group" aria-label="Chosen disputes">
          <strong>{title} chosen</strong>
          <Button isOff={isBusy} onClick={() => setAct("assign")}>
            Assign…
          </Button>
          <Button isOff={isBusy} onClick={() => setAct("close")}>
            Close…
          </Button>
        </div>
      )}
      {report}
      {act === "assign" && (
        <AssignDialog
          title={`Assign ${title}`}
          onClose={close}
          onChoose={(assigneeEmail) => void apply({ assigneeEmail })}
        />
      )}
      {act === "close" && problem && <Failure problem={problem} retry={reload} />}
      {act === "close" && !problem && (
        <CloseDialog
          title={`Close ${title}`}
          resolutions={resolutions}
          onClose={close}
          onChoose={(chosen) => void apply(closing(chosen))}
        />
      )}
    </>
  );
};
