import { useEffect, useState } from "preact/hooks";
import { recordOf } from "../answers.ts";
import { counted, formatMoment, plainText } from "../format.ts";
import type { Fields, Host } from "../host.ts";
import { callTool, useSession } from "../session.ts";
import { Button } from "./button.tsx";

type Format = "csv" | "xlsx";

const LABELS: Record<Format, string> = { xlsx: "Save as Excel", csv: "Save as CSV" };

/** Gives the person a table that the server has saved, in the way that the host has. Returns what was done, in words. */
const giveFile = async (host: Host, saved: Fields): Promise<string> => {
  const [uri, name, url] = ["uri", "name", "url"].map((key) => plainText(saved[key]));
  const path = plainText(saved["path"]);
  const what = `${counted(Number(saved["rows"] ?? 0), "row")} saved`;
  if (host.download !== undefined && uri && name) await host.download({ uri, name });
  else if (host.openLink !== undefined && url) await host.openLink(url);
  else if (path === "") return `${what} as ${uri}: ask the assistant to read it.`;
  return path === "" ? `${what}.` : `${what} as ${path}.`;
};

/** Saves the whole result of a tool; one at a time. */
const useSave = (tool: string, args: Fields) => {
  const { host } = useSession();
  const [message, setMessage] = useState("");
  const [isSaving, setSaving] = useState(false);
  const save = async (format: Format): Promise<void> => {
    setSaving(true);
    setMessage("Saving…");
    try {
      const reply = await callTool(host, tool, { ...args, save: format });
      if (reply.kind === "problem") setMessage(reply.problem.message);
      else if (reply.kind === "answer")
        setMessage(await giveFile(host, recordOf(reply.answer["saved"])));
    } catch (error) {
      setMessage(error instanceof Error ? error.message : String(error));
    }
    setSaving(false);
  };
  return { message, setMessage, isSaving, save };
};

const FullScreen = () => {
  const { display } = useSession().host;
  const [{ canFill, isFull }, setState] = useState(display.state());
  useEffect(() => display.listen(setState), [display]);
  if (!canFill) return null;
  return (
    <button
      type="button"
      aria-pressed={isFull}
      onClick={() => void display.toggle().catch(() => {})}
    >
      Full screen
    </button>
  );
};

/** Names a report so that the assistant can read it, too. */
const describeReport = (title: string, tool: string, args: Fields, answer: Fields): string =>
  `About the ${title} as of ${formatMoment(answer["asOf"])} (${tool} ${JSON.stringify(args)}): what stands out, and what should I do first?`;

type ToolsProps = {
  title: string;
  /** The tool whose result the report shows, and its arguments without those of a page. */
  tool: string;
  args: Fields;
  answer: Fields;
};

/** The buttons of a report: save its table, fill the screen, ask the assistant about it. */
export const ReportTools = ({ title, tool, args, answer }: ToolsProps) => {
  const { host } = useSession();
  const { message, setMessage, isSaving, save } = useSave(tool, args);
  const { ask } = host;
  return (
    <div class="toolbar" role="group" aria-label={`Use the ${title}`}>
      {(["xlsx", "csv"] as const).map((format) => (
        <Button key={format} isOff={isSaving} onClick={() => void save(format)}>
          {LABELS[format]}
        </Button>
      ))}
      <FullScreen />
      {ask && (
        <button
          type="button"
          onClick={() =>
            void ask(describeReport(title, tool, args, answer)).catch((error: unknown) =>
              setMessage(String(error)),
            )
          }
        >
          Ask the assistant about this
        </button>
      )}
      <span class="meta" role="status">
        {message}
      </span>
    </div>
  );
};
