import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { useEffect, useRef } from "preact/hooks";
import { type Fields, PLACE, type Visit } from "../host.ts";
import { base, type SiteView } from "./config.ts";

/** The calls with which the page opens views; the account sheet begins with its search. */
const FIRST_ARGUMENTS: Record<string, Record<string, unknown>> = {
  disputes_triage: { limit: 25 },
  payments_summarize: { source: "cashapp", groupBy: ["paymentDate:month"], limit: 200 },
};

const darkness = matchMedia("(prefers-color-scheme: dark)");
const themeNow = () => (darkness.matches ? "dark" : "light");

/** The answer with which a view opens; none where it shows a record, which it reads itself. */
const readFirst = async (client: Client, tool: string, args: Fields): Promise<CallToolResult> => {
  if (Object.keys(args).length === 0) return { content: [] };
  try {
    return await client.callTool({ name: tool, arguments: args });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { isError: true, content: [{ type: "text", text }] };
  }
};

/** Starts the call with which a view opens, beside the loading of the view itself. */
const begin = ({ client, view: { tool }, place }: FrameProps) => {
  const { record, cursors } = place ?? {};
  const cursor = Array.isArray(cursors) ? (cursors.at(-1) as unknown) : undefined;
  const hasRecord = record !== undefined;
  const args = place?.["args"] ?? (hasRecord ? {} : FIRST_ARGUMENTS[tool]);
  const first = { ...(args as Fields | undefined), ...(cursor === undefined ? {} : { cursor }) };
  return { args: first, result: readFirst(client, tool, hasRecord ? {} : first) };
};

const fill = async (bridge: AppBridge, { args, result }: ReturnType<typeof begin>) => {
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(await result);
};

/** Reads a resource of the server and gives it to the person as a file. */
const download = async (
  client: Client,
  { uri, name }: { uri: string; name: string },
): Promise<void> => {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  if (content === undefined) throw new Error("The server has no such file.");
  const bytes =
    "blob" in content
      ? Uint8Array.from(atob(content.blob), (c) => c.codePointAt(0) ?? 0)
      : content.text;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: content.mimeType ?? "" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};

const load = async (frame: HTMLIFrameElement, bridge: AppBridge, { file }: SiteView) => {
  if (frame.contentWindow === null) return;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = new URL(`app/${file}`, base).href;
};

type FrameProps = {
  client: Client;
  view: SiteView;
  /** The place at which the view opens; its own first one if there is none. */
  place: Fields | undefined;
  /** Hears of the places that the view goes to. */
  onVisit: (visit: Visit) => void;
  /** Receives the function that sends the view to a place. */
  onReady: (show: (place: Fields) => void) => void;
};

/** Passes places between the view and the page, by a notification of this server. */
const passPlaces = (bridge: AppBridge, { onVisit, onReady }: FrameProps): void => {
  bridge.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === PLACE) onVisit(params as Visit);
  };
  onReady((place) => {
    void bridge.notification({ method: PLACE, params: { place } });
  });
};

/** Shows a view in a sandboxed frame and passes its calls to the server. */
export const ViewFrame = (props: FrameProps) => {
  const { client, view, place } = props;
  const element = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const frame = element.current;
    if (!frame) return undefined;
    const bridge = new AppBridge(
      client,
      { name: "web-page", version: "1" },
      { serverTools: {}, downloadFile: {} },
      {
        hostContext: { theme: themeNow(), locale: navigator.language, [PLACE]: { place } },
      },
    );
    passPlaces(bridge, props);
    const opening = begin(props);
    bridge.addEventListener("sizechange", ({ height }) => {
      if (height !== undefined) frame.style.height = `${height}px`;
    });
    bridge.addEventListener("initialized", () => void fill(bridge, opening));
    bridge.ondownloadfile = async ({ contents }) => {
      for (const file of contents) {
        // One after the other: browsers ask the person about each file.
        if (file.type === "resource_link") await download(client, file);
      }
      return {};
    };
    const follow = (): void => bridge.setHostContext({ theme: themeNow() });
    darkness.addEventListener("change", follow);
    void load(frame, bridge, view);
    return () => {
      darkness.removeEventListener("change", follow);
      void bridge.close();
    };
  }, [client, view]);
  return <iframe ref={element} sandbox="allow-scripts" title={view.title} />;
};
