/**
 * The view's end of MCP Apps, revision 2026-01-26: JSON-RPC over postMessage. The App class of ext-apps does the same
 * with the whole SDK and zod, 540 KB; a view may have 300 KB. Types and tests are those of ext-apps.
 */
import type {
  McpUiHostCapabilities,
  McpUiHostContext,
  McpUiInitializeResult,
} from "@modelcontextprotocol/ext-apps";

const PROTOCOL_VERSION = "2026-01-26";

export type ToolResult = {
  content?: { type: string; text?: string; mimeType?: string; data?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
};

export type Fields = Record<string, unknown>;

type Message = {
  jsonrpc: "2.0";
  id?: number | string;
  method?: string;
  params?: Fields;
  result?: unknown;
  error?: { message?: string };
};

/** The messages that the host sends by itself. */
export type HostEvents = {
  onInput(args: Fields): void;
  onResult(result: ToolResult): void;
  onCancelled(): void;
  onContext(context: McpUiHostContext): void;
};

/** A place that the view has gone to; `isNew`: Back returns to the one before. */
export type Visit = { place: Fields; path: string; isNew: boolean };

type Places = {
  /** The place at which the view opens; its own first one if there is none. */
  first: Fields | undefined;
  tell(visit: Visit): void;
  /** Hears of places that the person returns to. Returns the function that ends the subscription. */
  listen(listener: (place: Fields) => void): () => void;
};

/** The notification about places in both directions, and the member of the host's context that offers it. */
export const PLACE = "receivables/place";

export type Host = {
  callTool(name: string, args: Fields): Promise<ToolResult>;
  /**
   * Tells the model of the conversation what the person did, if the host passes that on. A host without a context for
   * that gets a message of the person in its place, if the model waits for it.
   */
  tellModel(text: string, isAwaited?: boolean): void;
  /** The history of the page that shows the view; undefined if the host has none. */
  places?: Places | undefined;
  /** Offers the person a resource of the server as a file; undefined if the host cannot. */
  download?: ((file: { uri: string; name: string }) => Promise<void>) | undefined;
  /** Opens an address in the person's browser; undefined if the host cannot. */
  openLink?: ((url: string) => Promise<void>) | undefined;
  /** Sends the assistant a message of the person; undefined if the host cannot. */
  ask?: ((text: string) => Promise<void>) | undefined;
  /** The sizes in which the host shows the view. */
  display: Display;
};

/** `canFill`: the host can give the view the whole screen. */
type DisplayState = { canFill: boolean; isFull: boolean };

export type Display = {
  state(): DisplayState;
  /** Hears of changes. Returns the function that ends the subscription. */
  listen(listener: (state: DisplayState) => void): () => void;
  /** Fills the screen, or returns to the conversation. */
  toggle(): Promise<void>;
};

type Pending = { resolve(value: unknown): void; reject(error: Error): void };

const post = (message: Omit<Message, "jsonrpc">): void => {
  // The host's origin is unknown to a sandboxed page, and a view sends nothing but requests of its user.
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
};

const createRequests = () => {
  const pending = new Map<number, Pending>();
  let last = 0;
  return {
    send<T>(method: string, params: Fields): Promise<T> {
      last += 1;
      const id = last;
      post({ id, method, params });
      return new Promise<T>((resolve, reject) => {
        pending.set(id, { resolve: resolve, reject });
      });
    },
    settle({ id, result, error }: Message): void {
      const waiting = pending.get(Number(id));
      pending.delete(Number(id));
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error.message ?? "The host refused the request."));
    },
  };
};

const createPlaces = () => {
  const listeners = new Set<(place: Fields) => void>();
  const places: Omit<Places, "first"> = {
    tell: (visit) => post({ method: PLACE, params: visit }),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const applyPlace = ({ place }: Fields): void => {
    for (const listener of listeners) listener((place ?? {}) as Fields);
  };
  return { places, applyPlace };
};

const notifiers = (events: HostEvents): Record<string, (params: Fields) => void> => ({
  "ui/notifications/tool-input": (params) => {
    events.onInput((params["arguments"] ?? {}) as Fields);
  },
  "ui/notifications/tool-result": (params) => {
    events.onResult(params);
  },
  "ui/notifications/tool-cancelled": () => {
    events.onCancelled();
  },
  "ui/notifications/host-context-changed": (params) => {
    events.onContext(params);
  },
});

type Send = ReturnType<typeof createRequests>["send"];

/** Follows the size in which the host shows the view, by its context. */
const createDisplay = (send: Send) => {
  const listeners = new Set<(state: DisplayState) => void>();
  let state: DisplayState = { canFill: false, isFull: false };
  const apply = ({ availableDisplayModes, displayMode }: McpUiHostContext): void => {
    state = {
      canFill: availableDisplayModes?.includes("fullscreen") ?? state.canFill,
      isFull: displayMode === undefined ? state.isFull : displayMode === "fullscreen",
    };
    for (const listener of listeners) listener(state);
  };
  const display: Display = {
    state: () => state,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async toggle() {
      const mode = state.isFull ? "inline" : "fullscreen";
      apply({
        displayMode: (await send<{ mode: "inline" }>("ui/request-display-mode", { mode })).mode,
      });
    },
  };
  return { display, apply };
};

/** Reports the size of the page, so that the host can fit the frame. */
const reportSize = (): void => {
  const report = (): void => {
    const { scrollWidth: width } = document.documentElement;
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    post({ method: "ui/notifications/size-changed", params: { width, height } });
  };
  new ResizeObserver(report).observe(document.body);
};

/** Connects to the host that shows this page. */
export const connectHost = async (name: string, events: HostEvents): Promise<Host> => {
  const requests = createRequests();
  const { places, applyPlace } = createPlaces();
  const { display, apply } = createDisplay(requests.send);
  const notify: ReturnType<typeof notifiers> = {
    ...notifiers({
      ...events,
      onContext(context) {
        apply(context);
        events.onContext(context);
      },
    }),
    [PLACE]: applyPlace,
  };
  window.addEventListener("message", ({ source, data }: MessageEvent) => {
    const message = data as Message | null;
    if (source !== window.parent || message?.jsonrpc !== "2.0") return;
    if (message.method === undefined) requests.settle(message);
    else if (message.id === undefined) notify[message.method]?.(message.params ?? {});
    // The host asks whether the page still answers, or announces that it will remove it.
    else post({ id: message.id, result: {} });
  });
  const { hostContext, hostCapabilities } = await requests.send<McpUiInitializeResult>(
    "ui/initialize",
    {
      appInfo: { name, version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL_VERSION,
    },
  );
  apply(hostContext);
  events.onContext(hostContext);
  post({ method: "ui/notifications/initialized", params: {} });
  reportSize();
  const host = createHost(requests.send, hostCapabilities);
  const offered = hostContext[PLACE] as { place?: Fields } | undefined;
  return { ...host, display, places: offered && { ...places, first: offered.place } };
};

/** Refuses what the host has answered with an error of its own. */
const check = ({ isError }: { isError?: boolean }, problem: string): void => {
  if (isError === true) throw new Error(problem);
};

const createHost = (
  send: Send,
  { updateModelContext, message, downloadFile, openLinks }: McpUiHostCapabilities,
): Omit<Host, "display"> => ({
  callTool: (name, args) => send("tools/call", { name, arguments: args }),
  tellModel(text, isAwaited = false) {
    const content = [{ type: "text", text }];
    if (updateModelContext !== undefined) {
      send("ui/update-model-context", { content }).catch(() => {});
    } else if (message !== undefined && isAwaited) {
      send("ui/message", { role: "user", content }).catch(() => {});
    }
  },
  download:
    downloadFile &&
    (async (file) => {
      const contents = [{ type: "resource_link", ...file }];
      check(await send("ui/download-file", { contents }), "The host did not download the file.");
    }),
  openLink:
    openLinks &&
    (async (url) => {
      check(await send("ui/open-link", { url }), "The host did not open the address.");
    }),
  ask:
    message &&
    (async (text) => {
      const content = [{ type: "text", text }];
      check(await send("ui/message", { role: "user", content }), "The host sent no message.");
    }),
});
