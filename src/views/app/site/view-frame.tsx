import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { useEffect, useRef } from "preact/hooks";
import type { SiteConfig } from "./connect.ts";

type View = SiteConfig["views"][number];

/** The calls with which the page opens views; the account sheet begins with its search. */
const FIRST_ARGUMENTS: Record<string, Record<string, unknown>> = {
  disputes_triage: {},
  payments_summarize: { source: "cashapp", groupBy: ["paymentDate:month"], limit: 200 },
};

const darkness = matchMedia("(prefers-color-scheme: dark)");
const themeNow = () => (darkness.matches ? "dark" : "light");

const readFirst = async (client: Client, { tool }: View): Promise<CallToolResult> => {
  const args = FIRST_ARGUMENTS[tool];
  if (args === undefined) return { content: [] };
  try {
    return await client.callTool({ name: tool, arguments: args });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { isError: true, content: [{ type: "text", text }] };
  }
};

const fill = async (bridge: AppBridge, client: Client, view: View): Promise<void> => {
  await bridge.sendToolInput({ arguments: FIRST_ARGUMENTS[view.tool] ?? {} });
  await bridge.sendToolResult(await readFirst(client, view));
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

const load = async (frame: HTMLIFrameElement, bridge: AppBridge, view: View): Promise<void> => {
  if (frame.contentWindow === null) return;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = `app/${view.name}.html`;
};

/** Shows a view in a sandboxed frame and passes its calls to the server. */
export const ViewFrame = ({ client, view }: { client: Client; view: View }) => {
  const element = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const frame = element.current;
    if (!frame) return undefined;
    const bridge = new AppBridge(
      client,
      { name: "web-page", version: "1" },
      { serverTools: {}, downloadFile: {} },
      { hostContext: { theme: themeNow(), locale: navigator.language } },
    );
    bridge.addEventListener("sizechange", ({ height }) => {
      if (height !== undefined) frame.style.height = `${height}px`;
    });
    bridge.addEventListener("initialized", () => void fill(bridge, client, view));
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
