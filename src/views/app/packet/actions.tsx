import { useState } from "preact/hooks";
import { listOf, recordOf } from "../answers.ts";
import { plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { hasTool } from "../session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice } from "../ui/fields.tsx";
import { Failure } from "../ui/status.tsx";
import { useAction } from "../ui/use-action.tsx";
import { useCall } from "../ui/use-call.ts";
import { STATUS } from "../words.ts";
import { NoteDialog } from "./note-dialog.tsx";

type Choose = { onClose: () => void; onChoose: (value: string) => void };

const personName = (person: Fields): string =>
  [person["firstName"], person["lastName"]].map(plainText).join(" ").trim() ||
  plainText(person["email"]);

/** Asks for an active assignee; gives the e-mail address. */
export const AssignDialog = ({ title, onClose, onChoose }: Choose & { title: string }) => {
  const { reply, answer, problem, reload } = useCall("assignees_list", {});
  const people = listOf(answer?.["items"])
    .filter(({ active }) => active !== false)
    .map(({ person }) => recordOf(person))
    .filter(({ email }) => typeof email === "string");
  const [chosen, setChosen] = useState("");
  const names = people.map(personName);
  const options = people.map(({ email }, at) => {
    const name = names[at] ?? "";
    const isAlone = names.indexOf(name) === names.lastIndexOf(name);
    return { value: String(email), text: isAlone ? name : `${name}, ${plainText(email)}` };
  });
  return (
    <Dialog
      title={title}
      confirm="Assign"
      isReady={chosen !== ""}
      onConfirm={() => onChoose(chosen)}
      onClose={onClose}
    >
      {problem && <Failure problem={problem} retry={reload} />}
      <Choice
        label="Assignee"
        value={chosen}
        onChange={setChosen}
        options={[
          { value: "", text: reply === undefined ? "Loading…" : "Choose a person" },
          ...options,
        ]}
      />
    </Dialog>
  );
};

/** Asks for a resolution; gives its code, or nothing. */
export const CloseDialog = ({
  title,
  resolutions,
  onClose,
  onChoose,
}: Choose & { title: string; resolutions: readonly Fields[] }) => {
  const [chosen, setChosen] = useState("");
  const options = resolutions.map(({ code, description, isValid }) => ({
    value: plainText(code),
    text: `${plainText(description) || plainText(code)} (${isValid === true ? "valid" : "not valid"})`,
  }));
  return (
    <Dialog title={title} confirm="Close" onConfirm={() => onChoose(chosen)} onClose={onClose}>
      <Choice
        label="Resolution"
        value={chosen}
        onChange={setChosen}
        options={[{ value: "", text: "Without a resolution" }, ...options]}
      />
    </Dialog>
  );
};

/** The change that closes a dispute with a chosen resolution. */
export const closing = (resolutionCode: string): Fields => ({
  status: STATUS.closed,
  ...(resolutionCode === "" ? {} : { resolutionCode }),
});

type Act = "assign" | "close" | "note";
type Change = (tool: string, args: Fields, done: string) => Promise<void>;
type Changing = Pick<ReturnType<typeof useAction>, "isBusy" | "problem">;

const UPDATE = "disputes_update";
const ADD_NOTE = "dispute_notes_create";

type DialogsProps = Changing & {
  act: Act | undefined;
  packet: Fields;
  change: Change;
  onClose: () => void;
};

const Dialogs = ({ act, packet, change, onClose, isBusy, problem }: DialogsProps) => {
  const code = plainText(recordOf(packet["dispute"])["disputeCode"]);
  if (act === "assign") {
    return (
      <AssignDialog
        title={`Assign ${code}`}
        onClose={onClose}
        onChoose={(assigneeEmail) =>
          void change(UPDATE, { assigneeEmail }, `${code} is assigned to ${assigneeEmail}.`)
        }
      />
    );
  }
  if (act === "close") {
    return (
      <CloseDialog
        title={`Close ${code}`}
        resolutions={listOf(packet["resolutions"])}
        onClose={onClose}
        onChoose={(chosen) => void change(UPDATE, closing(chosen), `${code} is closed.`)}
      />
    );
  }
  if (act !== "note") return null;
  return (
    <NoteDialog
      isBusy={isBusy}
      problem={problem}
      onClose={onClose}
      onAdd={(content, visibility) =>
        void change(ADD_NOTE, { content, visibility }, `The note was added to ${code}.`)
      }
    />
  );
};

/** What can be done about a dispute, as far as this server has the tools. */
export const PacketActions = ({ packet }: { packet: Fields }) => {
  const { run, isBusy, problem, report, clear } = useAction();
  const [act, setAct] = useState<Act>();
  const begin = (next: Act): void => {
    clear();
    setAct(next);
  };
  const { disputeCode, status } = recordOf(packet["dispute"]);
  const code = plainText(disputeCode);
  const change: Change = async (tool, args, done) => {
    // A note stays where it was typed until it is stored.
    if (tool !== ADD_NOTE) setAct(undefined);
    const isDone = await run({ tool, args: { disputeId: code, ...args }, done: () => done });
    if (isDone) setAct(undefined);
  };
  const button = (text: string, onClick: () => void) => (
    <Button isOff={isBusy} onClick={onClick}>
      {text}
    </Button>
  );
  const canUpdate = hasTool(UPDATE);
  const isOpen = status === STATUS.open;
  const reopen = () => void change(UPDATE, { status: STATUS.open }, `${code} is open again.`);
  return (
    <>
      <div class="toolbar">
        {canUpdate && isOpen && button("Assign…", () => begin("assign"))}
        {canUpdate && isOpen && button("Close…", () => begin("close"))}
        {canUpdate && !isOpen && button("Reopen", reopen)}
        {hasTool(ADD_NOTE) && button("Add note…", () => begin("note"))}
      </div>
      {act !== "note" && report}
      <Dialogs
        act={act}
        packet={packet}
        change={change}
        isBusy={isBusy}
        problem={problem}
        onClose={() => setAct(undefined)}
      />
    </>
  );
};
