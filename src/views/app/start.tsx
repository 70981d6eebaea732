// oxlint-disable-next-line import/no-unassigned-import -- the bundler collects style sheets by their imports
import "./style.css";
import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import { type ComponentType, render } from "preact";
import { connectHost, type Fields, type Host, type ToolResult } from "./host.ts";
import { type Opening, readResult, SessionProvider } from "./session.ts";
import { createKnownAnswers } from "./known-answers.ts";
import { Alert, Loading } from "./ui/status.tsx";
import { setLocale } from "./format.ts";

/** Applies theme, style variables, language and time zone of the host. */
const applyContext = ({ theme, styles, locale, timeZone }: McpUiHostContext): void => {
  const root = document.documentElement;
  if (theme !== undefined) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (value !== undefined) root.style.setProperty(name, value);
  }
  if (locale !== undefined || timeZone !== undefined) setLocale(locale, timeZone);
};

type State = { host?: Host; tool?: string | undefined; args?: Fields; result?: ToolResult };

/** Shows a view for the tool call of the host, and again for each further one. */
export const startView = (name: string, View: ComponentType): void => {
  const root = document.querySelector("#view") ?? document.body;
  let state: State = {};
  let calls = 0;
  let known = createKnownAnswers();

  const show = (): void => {
    const { host, tool, args, result } = state;
    if (host === undefined || result === undefined) return render(<Loading />, root);
    const opening: Opening = { tool, args: args ?? {}, reply: readResult(result) };
    return render(
      <SessionProvider value={{ host, opening, known }} key={calls}>
        <View />
      </SessionProvider>,
      root,
    );
  };
  const update = (change: State): void => {
    state = { ...state, ...change };
    show();
  };

  show();
  connectHost(name, {
    onInput: (args) => update({ args }),
    onResult(result) {
      calls += 1;
      known = createKnownAnswers();
      update({ result });
    },
    onCancelled: () => render(<Alert>The call was cancelled.</Alert>, root),
    onContext(context: McpUiHostContext) {
      applyContext(context);
      const tool = context.toolInfo?.tool.name;
      if (tool !== undefined) update({ tool });
      else show();
    },
  })
    .then((host) => update({ host }))
    .catch((error: unknown) => render(<Alert>{String(error)}</Alert>, root));
};
