import { useEffect, useId, useState } from "preact/hooks";
import { listOf, textsOf } from "../answers.ts";
import { plainText, words } from "../format.ts";
import type { Fields } from "../host.ts";
import { type Open, RECORD_KINDS, type RecordKind, type RecordRef } from "../place.ts";
import { hasTool } from "../session.ts";
import { RecordLink } from "../ui/record-link.tsx";
import { Empty, Failure, Loading, Notes } from "../ui/status.tsx";
import { useCall } from "../ui/use-call.ts";

const FIND = "find_records";

const isKind = (value: unknown): value is RecordKind => RECORD_KINDS.some((kind) => kind === value);

type Hit = RecordRef & { label: string };

const toHits = (items: readonly Fields[]): Hit[] =>
  items.flatMap(({ type, id, label }) =>
    isKind(type) ? [{ kind: type, id: plainText(id), label: plainText(label) }] : [],
  );

/** Returns the only record found, or the one whose number was typed. */
const chooseOnly = (hits: readonly Hit[], text: string): Hit | undefined => {
  const exact = hits.filter(({ id }) => id.toLowerCase() === text.toLowerCase());
  const [first, ...more] = exact.length > 0 ? exact : hits;
  return more.length === 0 ? first : undefined;
};

/** A hint for a model, such as "payments_query finds payments": a person sees no tools. */
const NAMES_TOOL = /\b[a-z]+_[a-z_]+ finds\b/;

type HitsProps = { text: string; open: Open; close: () => void };

const Hits = ({ text, open, close }: HitsProps) => {
  const { answer, problem, isLoading, reload } = useCall(FIND, { text, types: [...RECORD_KINDS] });
  const hits = toHits(listOf(answer?.["items"]));
  const only = isLoading ? undefined : chooseOnly(hits, text);
  useEffect(() => {
    if (only === undefined) return;
    close();
    open(only);
  }, [only?.id]);
  return (
    <section class="card" aria-label="Records found" aria-busy={isLoading}>
      <div class="bar-head">
        <h2>Found for “{text}”</h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {isLoading && <Loading what="Searching" />}
      {problem && <Failure problem={problem} retry={reload} />}
      {!isLoading && answer && hits.length === 0 && <Empty>Nothing has this number or name.</Empty>}
      <ul class="lines">
        {hits.map((hit) => (
          <li key={`${hit.kind} ${hit.id}`}>
            <RecordLink record={hit} open={open} /> {hit.label !== hit.id && hit.label}{" "}
            <span class="meta">{words(hit.kind)}</span>
          </li>
        ))}
      </ul>
      <Notes notes={textsOf(answer?.["notes"]).filter((note) => !NAMES_TOOL.test(note))} />
    </section>
  );
};

/** Finds a dispute, an account or a document by its number or name. */
export const Finder = ({ open }: { open: Open }) => {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [text, setText] = useState("");
  if (!hasTool(FIND)) return null;
  const close = (): void => {
    setText("");
    setTyped("");
  };
  return (
    <>
      <search class="finder">
        <div class="field">
          <label for={id}>Find a dispute, document or account</label>
          <input
            id={id}
            type="search"
            value={typed}
            placeholder="Number or name"
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") setText(typed.trim());
              if (event.key === "Escape") close();
            }}
          />
        </div>
        <button type="button" disabled={typed.trim() === ""} onClick={() => setText(typed.trim())}>
          Find
        </button>
      </search>
      {text !== "" && <Hits text={text} open={open} close={close} />}
    </>
  );
};
