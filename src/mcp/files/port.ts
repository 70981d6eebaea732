import type { Extension } from "../../contract/file-types.ts";

/** The types whose contents can be read. */
export type ReadableType =
  | Exclude<Extension, ".mov" | ".mp4" | ".png" | ".jpeg" | ".gif">
  | ".csv"
  | ".html";

/** The divisions of a file, as answers name them. */
export type Unit = "page" | "sheet" | "part";

/** A place in a file: a page, sheet or part, counted from 1, and characters or rows in it, counted from 0. */
export type Place = { unit: number; offset: number };

/** A file to read, from a place up to a page, sheet or part. */
export type TextRequest = {
  type: ReadableType;
  bytes: Uint8Array<ArrayBuffer>;
  from: Place;
  /** The last page, sheet or part; null: the file's last. */
  last: number | null;
  /** The budget of the texts. */
  tokens: number;
  /** The most pictures of pages without text; 0: none are drawn. */
  pictures: number;
};

/** A text of a file, sanitized; one of the first three names says where it stands. */
export type FilePiece = {
  page?: number;
  sheet?: string;
  part?: string;
  /** The cells of a sheet, such as `A1:F20`. */
  range?: string;
  text: string;
};

export type Picture = {
  page: number;
  mimeType: "image/png" | "image/jpeg";
  data: Uint8Array<ArrayBuffer>;
};

export type FileText = {
  unit: Unit;
  /** The number of pages, sheets or parts. */
  total: number;
  text: FilePiece[];
  /** Pages without text. */
  withoutText: number[];
  pictures: Picture[];
  /** The next place; null at the end. */
  next: Place | null;
  /** Sentences about what could not be read. */
  notes: string[];
};

/** A file cannot be read; the message says why. */
export class Unreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Unreadable";
  }
}

/** The answer of a thread: the text, or the reason why there is none. */
export type TextReply = { text: FileText } | { unreadable: string };
