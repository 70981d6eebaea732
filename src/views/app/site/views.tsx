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

type Show = { current: (place: Fields) => void };

/** The view that shows a record: the account sheet accounts, the dispute board the others. */
const viewOf = (views: readonly SiteView[], record: RecordRef | undefined): SiteView | undefined =>
  views.find(({ tool }) => record?.kind === "account" && tool === "account_overview") ?? views[0];

const titleOf = (path: string): string =>
  path === "" ? name : `${decodeURIComponent(path.split("/")[1] ?? "")} – ${name}`;

/** Keeps views and places in the browser's history; `show` sends the open view to a place. */
const useHistory = (views: readonly SiteView[], record: RecordRef | undefined, show: Show) => {
  // The browser keeps the entry when the page is loaded again.
  const [entry, setEntry] = useState<Entry>(
    () =>
      (history.state as Entry | null) ?? {
        view: viewOf(views, record)?.name ?? "",
        place: record && { record },
      },
  );
  const current = useRef(entry);
  useEffect(() => {
    const goBack = ({ state }: PopStateEvent): void => {
      const next = (state ?? { view: views[0]?.name, place: undefined }) as Entry;
      if (next.view !== current.current.view || next.place === undefined) setEntry({ ...next });
      else show.current(next.place);
      current.current = next;
      document.title = titleOf(location.href.slice(base.href.length));
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
    document.title = titleOf(path);
  };
  const choose = (view: SiteView): void => {
    const isOpen = view.name === current.current.view;
    if (isOpen && current.current.place?.["record"] === undefined) return;
    const next: Entry = { view: view.name, place: isOpen ? {} : undefined };
    history.pushState(next, "", base);
    current.current = next;
    if (isOpen) show.current({});
    else setEntry(next);
  };
  return { entry, visit, choose };
};

/** The views of the tools that the person has. */
export const Views = ({ client, tools, record }: Connected & { record: RecordRef | undefined }) => {
  const [views] = useState(() => config.views.filter(({ tool }) => tools.has(tool)));
  const ViewFrame = useViewFrame();
  const show: Show = useRef(() => {});
  const { entry, visit, choose } = useHistory(views, record, show);
  const shown = views.find((view) => view.name === entry.view) ?? views[0];
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
