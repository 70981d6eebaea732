import { useEffect, useState } from "preact/hooks";
import type { Fields } from "./host.ts";
import { useSession } from "./session.ts";

export const RECORD_KINDS = ["dispute", "account", "document"] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** A record that is shown alone. */
export type RecordRef = { kind: RecordKind; id: string };

/** Goes to a record. */
export type Open = (record: RecordRef) => void;

/**
 * The content of a view: a record, or its own page with these arguments. `cursors` lead to the page of its list, one
 * for each page after the first. A place is kept in the browser's history.
 */
export type Place = { record?: RecordRef | undefined; args?: Fields; cursors?: readonly string[] };

/** Returns the path of a place below the address of the server; the page of the view itself has none. */
const pathOf = ({ record }: Place): string =>
  record === undefined ? "" : `${record.kind}s/${encodeURIComponent(record.id)}`;

/** The place of the view. Where the host keeps a history, `go` adds to it, and Back returns to the place before. */
export const usePlace = (own: Place): { place: Place; go: (place: Place) => void } => {
  const { places } = useSession().host;
  const [place, setPlace] = useState<Place>(places?.first ?? own);
  useEffect(() => {
    places?.tell({ place, path: pathOf(place), isNew: false });
    return places?.listen((next) => setPlace(next));
  }, [places]);
  const go = (next: Place): void => {
    setPlace(next);
    places?.tell({ place: next, path: pathOf(next), isNew: true });
  };
  return { place, go };
};
