import { listOf, numberOf, textsOf } from "../answers.ts";
import { counted, plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { Empty, Failure, Loading } from "../ui/status.tsx";
import { type Part, useParts } from "../ui/use-parts.ts";

export const READ_FILE = "dispute_attachments_download";

const labelOf = ({ page, sheet, part, range }: Fields, isAlone: boolean): string => {
  if (page !== undefined) return `Page ${plainText(page)}`;
  if (sheet !== undefined) return `${plainText(sheet)} ${plainText(range)}`.trim();
  return isAlone ? "" : plainText(part);
};

/** Rows of a sheet, whose cells have tabs between them. */
const Cells = ({ label, text }: { label: string; text: string }) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    <table class="cells">
      <tbody>
        {text.split("\n").map((row, place) => (
          <tr key={place}>
            {row.split("\t").map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Piece = ({ piece, isAlone }: { piece: Fields; isAlone: boolean }) => {
  const label = labelOf(piece, isAlone);
  const text = plainText(piece["text"]);
  return (
    <section>
      {label !== "" && <h3>{label}</h3>}
      {piece["sheet"] === undefined ? (
        <p class="prose">{text}</p>
      ) : (
        <Cells label={label} text={text} />
      )}
    </section>
  );
};

const PartView = ({ name, part }: { name: string; part: Part }) => {
  const { answer, pictures = [] } = part;
  const pieces = listOf(answer["text"]);
  const pages = textsOf(answer["pictures"]);
  const isPaged = answer["pagesTotal"] !== undefined;
  return (
    <>
      {pieces.map((piece, place) => (
        <Piece key={place} piece={piece} isAlone={numberOf(answer["pagesTotal"]) <= 1} />
      ))}
      {pictures.map((source, place) => {
        const label = isPaged ? `Page ${pages[place] ?? ""}` : name;
        return (
          <figure key={place}>
            {isPaged && <figcaption>{label}</figcaption>}
            <img src={source} alt={isPaged ? `${label} of ${name}` : label} />
          </figure>
        );
      })}
      {textsOf(answer["notes"]).map((note) => (
        <p key={note} class="meta">
          {note}
        </p>
      ))}
      {plainText(answer["unreadable"]) !== "" && <Empty>{plainText(answer["unreadable"])}</Empty>}
    </>
  );
};

/** The number of pages, sheets or parts of a file that has several. */
const Extent = ({ answer }: { answer: Fields }) => {
  const total = numberOf(answer["pagesTotal"]);
  const isPages = listOf(answer["text"]).every(({ page }) => page !== undefined);
  return <span class="meta">The file has {counted(total, isPages ? "page" : "part")}.</span>;
};

/** A file's text and pictures, as the assistant's tool reads them, with a button for what follows. */
export const FilePreview = ({
  name,
  ...file
}: {
  name: string;
  disputeId: string;
  attachmentId: string;
}) => {
  const { parts, last, load, retry } = useParts(READ_FILE, file);
  const next = parts.at(-1)?.answer["nextCursor"];
  const cursor = typeof next === "string" ? next : undefined;
  return (
    <div class="file-preview" role="region" aria-label={`Preview of ${name}`} tabIndex={0}>
      {parts.map((part, place) => (
        <PartView key={place} name={name} part={part} />
      ))}
      {last === undefined && <Loading what={`Reading ${name}`} />}
      {last?.kind === "problem" && <Failure problem={last.problem} retry={retry} />}
      {cursor !== undefined && last?.kind === "answer" && (
        <div class="toolbar">
          <button type="button" onClick={() => void load(cursor)}>
            Show more
          </button>
          <Extent answer={last.answer} />
        </div>
      )}
    </div>
  );
};
