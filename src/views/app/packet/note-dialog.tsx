import { useId, useState } from "preact/hooks";
import type { NoteVisibility } from "../../../contract/fields.ts";
import type { Problem } from "../reply.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Choice } from "../ui/fields.tsx";
import { Alert } from "../ui/status.tsx";
import { toChoices, VISIBILITIES } from "../words.ts";

/** The longest note that the contract takes. */
const MOST_CHARACTERS = 10_000;

type NoteProps = {
  isBusy: boolean;
  /** Why the note was not added; the text stays. */
  problem: Problem | undefined;
  onClose: () => void;
  onAdd: (content: string, visibility: NoteVisibility) => void;
};

/** Takes a note. It stays open, with the text, until the note is stored or discarded. */
export const NoteDialog = ({ isBusy, problem, onClose, onAdd }: NoteProps) => {
  const [content, setContent] = useState("");
  const [visibility, setVisibility] = useState<NoteVisibility>("Internal");
  const id = useId();
  const text = content.trim();
  return (
    <Dialog
      title="Add a note"
      confirm={isBusy ? "Adding…" : "Add note"}
      isReady={text !== "" && !isBusy}
      isTyped={text !== ""}
      onConfirm={() => onAdd(text, visibility)}
      onClose={onClose}
    >
      <div class="field">
        <label for={id}>Note</label>
        <textarea
          id={id}
          rows={5}
          maxLength={MOST_CHARACTERS}
          value={content}
          onInput={(event) => setContent(event.currentTarget.value)}
        />
      </div>
      <Choice
        label="Visibility"
        value={visibility}
        onChange={setVisibility}
        options={toChoices(VISIBILITIES)}
      />
      {problem && !isBusy && (
        <Alert>
          <p>{problem.message}</p>
          <p>The note was not added. Your text is kept here.</p>
        </Alert>
      )}
    </Dialog>
  );
};
