import { cost } from "../results/budget.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { lettersOf } from "./column-letters.ts";
import type { Content, Rows, Section } from "./content.ts";
import { fitRows, fitText } from "./fit-text.ts";
import {
  type FilePiece,
  type FileText,
  type Picture,
  type Place,
  type TextRequest,
  Unreadable,
} from "./port.ts";

/** The largest part of the budget that a piece costs beside its text. */
const PIECE_TOKENS = 24;
/** A piece is begun only where so many tokens are left for its text. */
const LEAST_TOKENS = 60;
/** The most pages, sheets or parts that an answer looks at. */
const MAX_SECTIONS = 200;
/** The cost of a sentence about a row that is cut. */
const NOTE_TOKENS = 40;
const MAX_NAME = 100;
/** The bytes of all pictures of an answer. */
export const MAX_PICTURE_BYTES = 1_500_000;
const CHARACTERS_PER_TOKEN = 8;

type Bounds = Pick<TextRequest, "from" | "last" | "tokens" | "pictures"> & {
  /** Whether the time for further sections is over. */
  isLate(): boolean;
};

type State = FileText & { left: number; pictureBytes: number };

const rangeOf = (from: number, rows: number, columns: number): string =>
  `A${from + 1}:${lettersOf(Math.max(0, columns - 1))}${from + Math.max(1, rows)}`;

const labelOf = ({ unit }: FileText, place: number, name: string): Partial<FilePiece> =>
  unit === "page" ? { page: place } : { [unit]: sanitizeLine(name, MAX_NAME) };

/** The next place, and whether the budget cut the last piece. */
type Step = { place: Place; isCut: boolean };

const afterUnit = ({ unit }: Place): Step => ({
  place: { unit: unit + 1, offset: 0 },
  isCut: false,
});

const add = (state: State, piece: FilePiece): void => {
  state.text.push(piece);
  state.left -= cost(piece) + 1;
};

const showRows = (state: State, section: { name: string } & Rows, at: Place): Step => {
  const { first, rows, columns, next } = section;
  const { unit } = at;
  const available = state.left - PIECE_TOKENS;
  const label = labelOf(state, unit, section.name);
  if (rows.length === 0) {
    if (at.offset === 0) add(state, { ...label, text: "" });
    return afterUnit(at);
  }
  const { text, taken } = fitRows(rows, available);
  if (taken === 0) {
    const beginning = fitText(rows[0] ?? "", available - NOTE_TOKENS).text;
    add(state, { ...label, range: rangeOf(first, 1, columns), text: `${beginning}…` });
    state.notes.push(`Row ${first + 1} is longer than an answer; its beginning is here.`);
    return { place: { unit, offset: first + 1 }, isCut: true };
  }
  add(state, { ...label, range: rangeOf(first, taken, columns), text });
  if (taken < rows.length) return { place: { unit, offset: first + taken }, isCut: true };
  return next === null ? afterUnit(at) : { place: { unit, offset: next }, isCut: false };
};

/** Shows a text; undefined for a page that an answer of its own has room for. */
const showText = (
  state: State,
  section: { name: string; text: string },
  at: Place,
): Step | undefined => {
  const { unit, offset } = at;
  const rest = section.text.slice(offset);
  const { text, taken } = fitText(rest, state.left - PIECE_TOKENS);
  const isLater = state.text.length + state.pictures.length > 0;
  if (state.unit === "page" && isLater && taken < rest.length) return undefined;
  if (text !== "" || offset === 0) add(state, { ...labelOf(state, unit, section.name), text });
  if (taken >= rest.length) return afterUnit(at);
  return { place: { unit, offset: offset + Math.max(1, taken) }, isCut: true };
};

type Page = { draw?: () => Promise<Picture> };

/** Adds the picture of a page if it has one. Returns false where the answer has no room for it. */
const showPicture = async (
  state: State,
  { draw }: Page,
  page: number,
  most: number,
): Promise<boolean> => {
  if (draw === undefined || most === 0) return true;
  if (state.pictures.length >= most) return false;
  try {
    const picture = await draw();
    const bytes = state.pictureBytes + picture.data.byteLength;
    if (bytes > MAX_PICTURE_BYTES && state.pictures.length > 0) return false;
    state.pictureBytes = bytes;
    state.pictures.push(picture);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    state.notes.push(`Page ${page} is a picture and cannot be drawn: ${error.message}`);
    state.left -= cost(error.message) + PIECE_TOKENS;
  }
  return true;
};

/** Reads a section; one that cannot be read is noted, and the others are read. */
const readSection = async (
  content: Content,
  state: State,
  { unit, offset }: Place,
): Promise<Section | undefined> => {
  try {
    return await content.read(unit, offset, state.left * CHARACTERS_PER_TOKEN);
  } catch (error) {
    if (!(error instanceof Unreadable) || state.total === 1) throw error;
    state.notes.push(error.message);
    state.left -= cost(error.message);
    return undefined;
  }
};

/** Shows a section from a place on; undefined where there is no room for its picture. */
const show = async (
  state: State,
  section: Section | undefined,
  at: Place,
  pictures: number,
): Promise<Step | undefined> => {
  if (section === undefined) return afterUnit(at);
  if ("rows" in section) return showRows(state, section, at);
  if ("text" in section) {
    const before = { ...state, text: [...state.text] };
    const step = showText(state, section, at);
    if (step === undefined || at.offset > 0) return step;
    if (await showPicture(state, section, at.unit, pictures)) return step;
    // The text comes with its picture in the next answer.
    Object.assign(state, before);
    return undefined;
  }
  if (!(await showPicture(state, section, at.unit, pictures))) return undefined;
  state.withoutText.push(at.unit);
  state.left -= 2;
  return afterUnit(at);
};

/** Collects the texts and pictures of a file from a place on, as many as fit an answer. */
export const collectText = async (
  content: Content,
  { from, last, tokens, pictures, isLate }: Bounds,
): Promise<FileText> => {
  const { unit, total } = content;
  const {
    left: _left,
    pictureBytes: _bytes,
    ...text
  }: State = await fill(
    content,
    {
      unit,
      total,
      text: [],
      withoutText: [],
      pictures: [],
      next: null,
      notes: [],
      left: tokens,
      pictureBytes: 0,
    },
    { from, last, pictures, isLate },
  );
  return text;
};

/** Adds sections to an answer until it is full, and gives the next place. */
const fill = async (
  content: Content,
  state: State,
  { from, last, pictures, isLate }: Omit<Bounds, "tokens">,
): Promise<State> => {
  const end = Math.min(last ?? content.total, content.total);
  let place: Place = from;
  for (let count = 0; place.unit <= end; count += 1) {
    const isFull = state.left < LEAST_TOKENS || count >= MAX_SECTIONS || isLate();
    if (count > 0 && isFull) return { ...state, next: place };
    const section = await readSection(content, state, place);
    const step = await show(state, section, place, pictures);
    if (step === undefined) return { ...state, next: place };
    ({ place } = step);
    if (step.isCut) return { ...state, next: place };
  }
  return state;
};
