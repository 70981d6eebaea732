import { useState } from "preact/hooks";
import { listOf } from "../answers.ts";
import { plainText } from "../format.ts";
import type { Fields } from "../host.ts";
import { hasTool, useSession } from "../session.ts";
import { Alert, Empty } from "../ui/status.tsx";
import { FilePreview, READ_FILE } from "./file-preview.tsx";

/** The warnings of a scan, by code; the server's own words name the part. */
const WARNINGS: Readonly<Record<string, string>> = {
  RESTRICTED_FILE: "The PDF restricts printing, copying or changes.",
  DAMAGED_FILE: "The file is damaged or cut off.",
  EXTERNAL_LINK: "The file leads to other files or pages.",
  NETWORK_FORMULA: "Formulas read from the network.",
  OTHER_FILE_TYPE: "Files of other types in it were checked for programs only.",
  UNREADABLE_PART: "A part of it could not be checked.",
  HIDDEN_TEXT: "The file has hidden text.",
};

/** The unusual properties of a file: each kind once, with the parts that have it. */
const Warnings = ({ warnings }: { warnings: Fields[] }) => {
  const kinds = Map.groupBy(warnings, ({ code }) => plainText(code));
  return (
    <ul class="warnings" aria-label="Warnings">
      {[...kinds].map(([code, list]) => (
        <li key={code}>
          {WARNINGS[code] ?? "The file is unusual."}
          <span class="meta"> {list.map(({ message }) => plainText(message)).join(" ")}</span>
        </li>
      ))}
    </ul>
  );
};

type Save = (uri: string, name: string) => void;

const FileName = ({ file, save }: { file: Fields; save: Save | undefined }) => {
  const { resource } = file;
  const name = plainText(file["fileName"]);
  if (save === undefined || typeof resource !== "string") return <span>{name}</span>;
  return (
    <button
      type="button"
      class="link"
      aria-label={`Download ${name}`}
      onClick={() => save(resource, name)}
    >
      {name}
    </button>
  );
};

const FileRow = ({
  disputeId,
  file,
  save,
}: {
  disputeId: string;
  file: Fields;
  save: Save | undefined;
}) => {
  const [isOpen, setOpen] = useState(false);
  const name = plainText(file["fileName"]);
  const [status, warnings] = [plainText(file["status"]), listOf(file["warnings"])];
  const canPreview = hasTool(READ_FILE) && status === "Available";
  return (
    <li>
      <div class="file">
        <FileName file={file} save={save} />
        <span class="meta">{status}</span>
        {canPreview && (
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? "Hide" : "Preview"} ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "Hide" : "Preview"}
          </button>
        )}
      </div>
      {warnings.length > 0 && <Warnings warnings={warnings} />}
      {isOpen ? (
        <FilePreview
          name={name}
          disputeId={disputeId}
          attachmentId={plainText(file["attachmentId"])}
        />
      ) : (
        <Excerpt file={file} />
      )}
    </li>
  );
};

const Excerpt = ({ file }: { file: Fields }) => {
  const [excerpt, reason] = [plainText(file["excerpt"]), plainText(file["noExcerpt"])];
  if (excerpt !== "") return <p class="prose preview">{excerpt}</p>;
  return reason === "" ? null : <p class="meta">{reason}</p>;
};

/** The files of a dispute. Each can be previewed, and downloaded where the host saves files. */
export const Files = ({ disputeId, files }: { disputeId: string; files: Fields[] }) => {
  const { download } = useSession().host;
  const [problem, setProblem] = useState<string>();
  const save = (uri: string, name: string): void => {
    setProblem(undefined);
    download?.({ uri, name }).catch((error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  if (files.length === 0) return <Empty>No files.</Empty>;
  return (
    <>
      <ul class="lines files">
        {files.map((file, place) => (
          <FileRow
            key={plainText(file["attachmentId"]) || place}
            disputeId={disputeId}
            file={file}
            save={download && save}
          />
        ))}
      </ul>
      {problem && <Alert>{problem}</Alert>}
    </>
  );
};
