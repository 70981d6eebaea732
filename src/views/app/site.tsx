// oxlint-disable-next-line import/no-unassigned-import -- the bundler collects style sheets by their imports
import "./style.css";
// oxlint-disable-next-line import/no-unassigned-import -- as above
import "./site.css";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { config } from "./site/config.ts";
import {
  handOver,
  recordOfPath,
  redeemCode,
  signIn,
  signInBeside,
  signOut,
} from "./site/sign-in.ts";
import { type Connected, Views } from "./site/views.tsx";
import { Alert, Loading } from "./ui/status.tsx";
import { useQuestion } from "./ui/use-question.tsx";

/** The client of the server, which is large: it loads while the page shows already. */
const loading = import("./site/connect.ts");

type AccessProps = {
  open: (token: string) => void;
  /** Leaves for the sign-in, or opens it in a second window where something may be typed on the page. */
  startSignIn: () => void;
};

const Access = ({ open, startSignIn }: AccessProps) => {
  const [token, setToken] = useState("");
  if (config.auth === "builtin") {
    return (
      <button type="button" class="primary" onClick={startSignIn}>
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

const END =
  config.auth === "builtin"
    ? "Your sign-in has ended. Sign in again to go on."
    : "The server does not accept this token (any more).";
const KEPT = "What you typed below stays: you sign in in a second window.";

type Attempt = () => Promise<Connected | undefined>;

const useOnline = (): boolean => {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = (): void => setOnline(navigator.onLine);
    for (const event of ["online", "offline"]) window.addEventListener(event, update);
  }, []);
  return isOnline;
};

/** Connects to the server, and again when the person asks for it or is online again. */
const useConnection = () => {
  const [connected, setConnected] = useState<Connected>();
  const [problem, setProblem] = useState<string>();
  const [isEnded, setEnded] = useState(false);
  const [isBusy, setBusy] = useState(true);
  const [failed, setFailed] = useState<Attempt>();
  const { ask, dialog } = useQuestion("The server asks");
  const holder = useRef<string | undefined>(undefined);

  const report = (error: unknown): void =>
    setProblem(error instanceof Error ? error.message : String(error));
  const connectWith = async (token: string | undefined): Promise<Connected> => {
    holder.current = token;
    // The same client goes on with a new token, so that views keep what is typed in them.
    if (connected !== undefined) {
      await connected.client.listTools(undefined, { cacheMode: "refresh" });
      setEnded(false);
      return connected;
    }
    const { connect } = await loading;
    const client = await connect({ token: holder, ask, onEnd: () => setEnded(true) });
    const { tools } = await client.listTools();
    setEnded(false);
    return { client, tools: new Set(tools.map(({ name }) => name)) };
  };
  const attempt = async (work: Attempt): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setFailed(undefined);
    try {
      setConnected(await work());
    } catch (error) {
      report(error);
      setFailed(() => work);
    }
    setBusy(false);
  };
  const open = (token: string): void => void attempt(() => connectWith(token));
  // The page stays usable meanwhile: the second window may be closed without a word.
  const signInAgain = (): void => {
    signInBeside().then((token) => void (token !== undefined && open(token)), report);
  };
  const leaveToSignIn = (): void => void signIn().catch(report);
  const leave = (): void => void signOut(holder.current).catch(report);
  const retry = failed && (() => void attempt(failed));
  return {
    connected,
    problem,
    isEnded,
    isBusy,
    dialog,
    attempt,
    connectWith,
    open,
    startSignIn: connected ? signInAgain : leaveToSignIn,
    leave,
    retry,
  };
};

const Failed = ({ problem, retry }: { problem: string; retry: (() => void) | undefined }) => (
  <Alert>
    <p>{problem}</p>
    {retry && config.auth === "none" && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </Alert>
);

const SignedIn = ({ leave }: { leave: () => void }) => (
  <p class="meta">
    You are signed in until you close or reload this page.{" "}
    <button type="button" class="link" onClick={leave}>
      Sign out
    </button>
  </p>
);

const Site = () => {
  const [record, setRecord] = useState(config.record);
  const isOnline = useOnline();
  const connection = useConnection();
  const { connected, problem, isEnded, isBusy, dialog, attempt, connectWith, open, retry } =
    connection;
  useEffect(() => {
    void attempt(async () => {
      if (config.auth === "none") return connectWith(undefined);
      const signedIn = config.auth === "builtin" ? await redeemCode() : undefined;
      if (signedIn === undefined) return undefined;
      setRecord(recordOfPath(signedIn.path));
      return connectWith(signedIn.token);
    });
  }, []);
  useEffect(() => {
    if (isOnline) retry?.();
  }, [isOnline]);
  const needsAccess = !isBusy && (isEnded || (!connected && config.auth !== "none"));
  return (
    <>
      {!isOnline && (
        <Alert>You are offline. This goes on by itself when the connection is back.</Alert>
      )}
      {isEnded && <Alert>{connected ? `${END} ${KEPT}` : END}</Alert>}
      {problem && (!isEnded || connected) && <Failed problem={problem} retry={retry} />}
      {isBusy && <Loading what="Connecting" />}
      {needsAccess && <Access open={open} startSignIn={connection.startSignIn} />}
      {connected && !needsAccess && config.auth !== "none" && <SignedIn leave={connection.leave} />}
      {connected && <Views {...connected} record={record} />}
      {dialog}
    </>
  );
};

const root = document.querySelector("#app") ?? document.body;
root.replaceChildren();
render(
  handOver() ? <p>You are signed in. Close this window and go on in the other one.</p> : <Site />,
  root,
);
