import type { Client } from "@modelcontextprotocol/client";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Fields, Visit } from "../host.ts";
import type { RecordRef } from "../place.ts";
import { Loading } from "../ui/status.tsx";
import { base, config, type SiteView } from "./config.ts";

export type Connected = { client: Client; tools: ReadonlySet<string> };

const name = document.title;
/** The code that hosts views, which is large: it loads while the page connects. */
const loading = import("./view-frame.tsx");
type ViewFrame = Awaited<typeof loading>["ViewFrame"];

const useViewFrame = (): ViewFrame | undefined => {
  const [frame, setFrame] = useState<ViewFrame>();
  useEffect(() => {
    void loading.then(({ ViewFrame }) => setFrame(() => ViewFrame));
  }, []);
  return frame;
};

/** The view of the page and the place in it, as the browser's history keeps them. */
type Entry = { view: string; place: Fields | undefined };

/** The view that shows a record: the account sheet accounts, the dispute board the others. */
const viewOf = (views: readonly SiteView[], record: RecordRef | undefined): SiteView | undefined =>
  views.find(({ tool }) => record?.kind === "account" && tool === "account_overview") ?? views[0];

/** The views of the tools that the person has. */
export const Views = ({ client, tools, record }: Connected & { record: RecordRef | undefined }) => {
  const [views] = useState(() => config.views.filter(({ tool }) => tools.has(tool)));
  const ViewFrame = useViewFrame();
  // The browser keeps the entry when the page is loaded again.
  const [entry, setEntry] = useState<Entry>(
    () =>
      (history.state as Entry | null) ?? {
        view: viewOf(views, record)?.name ?? "",
        place: record && { record },
      },
  );
  const show = useRef<(place: Fields) => void>(() => {});
  const current = useRef(entry);
  const shown = views.find((view) => view.name === entry.view);

  useEffect(() => {
    const goBack = ({ state }: PopStateEvent): void => {
      const next = (state ?? { view: views[0]?.name, place: undefined }) as Entry;
      if (next.view !== current.current.view || next.place === undefined) setEntry({ ...next });
      else show.current(next.place);
      current.current = next;
    };
    window.addEventListener("popstate", goBack);
    return () => window.removeEventListener("popstate", goBack);
  }, [views]);

  const visit = ({ place, path, isNew }: Visit): void => {
    const next: Entry = { view: current.current.view, place };
    const address = new URL(path, base);
    if (isNew) history.pushState(next, "", address);
    else history.replaceState(next, "", address);
    current.current = next;
    document.title =
      path === "" ? name : `${decodeURIComponent(path.split("/")[1] ?? "")} – ${name}`;
  };
  const choose = (view: SiteView): void => {
    if (view.name === entry.view && current.current.place?.["record"] === undefined) return;
    const next: Entry = { view: view.name, place: undefined };
    history.pushState(next, "", base);
    current.current = next;
    setEntry(next);
  };
  return (
    <>
      <nav class="toolbar" aria-label="Views">
        {views.map((view) => (
          <button
            type="button"
            key={view.name}
            aria-pressed={view === shown}
            onClick={() => choose(view)}
          >
            {view.title}
          </button>
        ))}
      </nav>
      {!ViewFrame && <Loading what="Loading the view" />}
      {shown && ViewFrame && (
        <ViewFrame
          key={`${shown.name} ${JSON.stringify(entry.place)}`}
          client={client}
          view={shown}
          place={entry.place}
          onVisit={visit}
          onReady={(ready) => {
            show.current = ready;
          }}
        />
      )}
    </>
  );
};
