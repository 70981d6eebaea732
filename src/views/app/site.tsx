// oxlint-disable-next-line import/no-unassigned-import -- the bundler collects style sheets by their imports
import "./style.css";
// oxlint-disable-next-line import/no-unassigned-import -- as above
import "./site.css";
import type { Client } from "@modelcontextprotocol/client";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { config as configureZod } from "zod/v4/core";
import { config, connect, redeemCode, signIn } from "./site/connect.ts";
import { ViewFrame } from "./site/view-frame.tsx";
import { Alert, Loading } from "./ui/status.tsx";
import { useQuestion } from "./ui/use-question.tsx";

// The page's policy forbids the code that zod would generate.
configureZod({ jitless: true });

const Access = ({ open }: { open: (token: string) => void }) => {
  const [token, setToken] = useState("");
  if (config.auth === "builtin") {
    return (
      <button type="button" class="primary" onClick={() => void signIn()}>
        Sign in
      </button>
    );
  }
  if (config.auth === "issuer") {
    return <p class="meta">Views are shown by assistants here: this page cannot sign you in.</p>;
  }
  return (
    <div class="toolbar">
      <div class="field">
        <label for="token">Token, which this page keeps in memory only</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </div>
      <button type="button" class="primary" disabled={token === ""} onClick={() => open(token)}>
        Open
      </button>
    </div>
  );
};

type Connected = { client: Client; tools: ReadonlySet<string> };

/** The views of the tools that the person has. */
const Views = ({ client, tools }: Connected) => {
  const [views] = useState(() => config.views.filter(({ tool }) => tools.has(tool)));
  const [shown, setShown] = useState(views[0]);
  return (
    <>
      <nav class="toolbar" aria-label="Views">
        {views.map((view) => (
          <button
            type="button"
            key={view.name}
            aria-pressed={view === shown}
            onClick={() => setShown(view)}
          >
            {view.title}
          </button>
        ))}
      </nav>
      {shown && <ViewFrame key={shown.name} client={client} view={shown} />}
    </>
  );
};

const END =
  config.auth === "builtin"
    ? "Your sign-in has ended. Sign in again to go on."
    : "The server does not accept this token (any more).";

const Site = () => {
  const [connected, setConnected] = useState<Connected>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(true);
  const { ask, dialog } = useQuestion("The server asks");

  const open = async (token: string | undefined): Promise<Connected> => {
    const onEnd = (): void => {
      setConnected(undefined);
      setProblem(END);
    };
    const client = await connect({ token, ask, onEnd });
    const { tools } = await client.listTools();
    return { client, tools: new Set(tools.map(({ name }) => name)) };
  };
  const attempt = async (work: () => Promise<Connected | undefined>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setConnected(await work());
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  useEffect(() => {
    void attempt(async () => {
      if (config.auth === "none") return open(undefined);
      const token = config.auth === "builtin" ? await redeemCode() : undefined;
      return token === undefined ? undefined : open(token);
    });
  }, []);

  return (
    <>
      {problem && <Alert>{problem}</Alert>}
      {isBusy && <Loading what="Connecting" />}
      {!isBusy && !connected && <Access open={(token) => void attempt(() => open(token))} />}
      {connected && <Views {...connected} />}
      {dialog}
    </>
  );
};

render(<Site />, document.querySelector("#app") ?? document.body);
