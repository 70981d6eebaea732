/** A host of MCP Apps in a browser: a client of the server, and a sandboxed frame for each view. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

type Opening = {
  tool: string;
  args: Record<string, unknown>;
  theme: "light" | "dark";
  /** The answers of the person to the host's questions; without it the host cannot ask. */
  answers?: ("accept" | "decline")[];
  mode: "auto" | "legacy";
  /** The way in which the host passes a report of a view to the model. */
  tells?: "context" | "message";
};

type HostState = {
  open(opening: Opening): Promise<void>;
  setTheme(theme: Opening["theme"]): void;
  questions: string[];
  told: unknown[];
  /** The files that views have offered, by name: text, or Base64. */
  files: Record<string, string>;
};

/** A question that is declined sooner counts as unanswered. */
const READING_MS = 1500;

const UI = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

const connect = async ({ answers, mode }: Opening, questions: string[]): Promise<Client> => {
  const client = new Client(
    { name: "view-host", version: "1" },
    {
      capabilities: { extensions: UI, ...(answers ? { elicitation: { form: {} } } : {}) },
      versionNegotiation: { mode },
    },
  );
  if (answers) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      const action = answers.shift() ?? "decline";
      if (action === "decline") await new Promise((read) => setTimeout(read, READING_MS));
      return action === "accept" ? { action, content: { confirm: true } } : { action };
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  return client;
};

const readHtml = async (client: Client, tool: string): Promise<string> => {
  const { tools } = await client.listTools();
  const meta = tools.find(({ name }) => name === tool)?._meta ?? {};
  const { resourceUri } = meta["ui"] as { resourceUri: string };
  const { contents } = await client.readResource({ uri: resourceUri });
  return (contents[0] as { text: string }).text;
};

let bridge: AppBridge | undefined;

const host: HostState = {
  questions: [],
  told: [],
  files: {},
  async open(opening) {
    const { tool, args, theme } = opening;
    const client = await connect(opening, host.questions);
    const html = await readHtml(client, tool);
    const result = await client.callTool({ name: tool, arguments: args });
    const { tools } = await client.listTools();
    const found = tools.find(({ name }) => name === tool);
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = "view";
    document.body.replaceChildren(frame);
    bridge = new AppBridge(
      client,
      { name: "view-host", version: "1" },
      {
        serverTools: {},
        downloadFile: {},
        ...(opening.tells === "message"
          ? { message: { text: {} } }
          : { updateModelContext: { text: {} } }),
      },
      {
        hostContext: {
          theme,
          locale: "en-US",
          displayMode: "inline",
          availableDisplayModes: ["inline", "fullscreen"],
          ...(found ? { toolInfo: { tool: found } } : {}),
        },
      },
    );
    bridge.ondownloadfile = async ({ contents }) => {
      for (const file of contents) {
        if (file.type !== "resource_link") continue;
        const [content] = (await client.readResource({ uri: file.uri })).contents;
        host.files[file.name] = content && "blob" in content ? content.blob : (content?.text ?? "");
      }
      return {};
    };
    bridge.onrequestdisplaymode = async ({ mode }) => {
      frame.dataset["mode"] = mode;
      return { mode };
    };
    bridge.onupdatemodelcontext = async ({ content }) => {
      host.told.push(content);
      return {};
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a handler that answers, not an event
    bridge.onmessage = async ({ content }) => {
      host.told.push(content);
      return {};
    };
    bridge.addEventListener("sizechange", ({ height }) => {
      if (height !== undefined) frame.style.height = `${height}px`;
    });
    const ready = new Promise<void>((resolve) => {
      bridge?.addEventListener("initialized", () => resolve());
    });
    const target = frame.contentWindow as Window;
    await bridge.connect(new PostMessageTransport(target, target));
    frame.srcdoc = html;
    await ready;
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult(result);
  },
  setTheme(theme) {
    bridge?.setHostContext({ theme });
    document.documentElement.style.colorScheme = theme;
  },
};

Object.assign(window, { host });
