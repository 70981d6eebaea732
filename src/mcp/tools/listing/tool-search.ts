import MiniSearch from "minisearch";
import { stemmer } from "stemmer";
import { acts, keywords, synonyms } from "../../../../tools/keywords.ts";
import { everyTool, type ListedTool } from "./every-tool.ts";

/** Words that say nothing about a tool. */
const IGNORED = new Set(
  "a an and are as at be been but by can could did do does for from give had here i in into is it its just like may me my need of off on or our out please so some than that the their them then there these they this those to tool until up us use want was we were will with would you your".split(
    " ",
  ),
);

const splitWords = (text: string): string[] =>
  text
    .split(/\s/)
    .map((part) => (part.includes("@") ? "email" : part))
    .join(" ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");

// A number, or a code that contains one, names one record.
const ONE = "one";

/** Returns the stem of a word that says something. */
const toTerm = (word: string): string | undefined => {
  if (IGNORED.has(word)) return undefined;
  return /\d/.test(word) && word !== "v1" ? ONE : stemmer(word);
};

type Phrases = ReadonlyMap<string, string>;

const MAX_PHRASE = 4;

/** Maps each synonym, word by word in its stems, to its canonical word. */
const readPhrases = (words: Readonly<Record<string, string>>): Phrases =>
  new Map(
    Object.entries(words).flatMap(([canonical, others]) =>
      others.split(", ").map((other) => [
        splitWords(other)
          .map((word) => stemmer(word))
          .join(" "),
        canonical,
      ]),
    ),
  );

const PHRASES = readPhrases(synonyms);

/** Returns the terms of a text: phrases and synonyms by their canonical word, other words by their stem. */
const toTerms = (text: string): string[] => {
  const words = splitWords(text);
  const stems = words.map((word) => stemmer(word));
  const terms: string[] = [];
  for (let at = 0; at < words.length;) {
    let length = Math.min(MAX_PHRASE, words.length - at);
    while (length > 0 && !PHRASES.has(stems.slice(at, at + length).join(" "))) length -= 1;
    const canonical = PHRASES.get(stems.slice(at, at + length).join(" "));
    const term = canonical === undefined ? toTerm(words[at] ?? "") : stemmer(canonical);
    if (term !== undefined) terms.push(term);
    at += Math.max(1, length);
  }
  return terms;
};

const BOOST = { noun: 3.5, act: 2, title: 0.5, description: 0.5, words: 1.5, given: 0.3 };
const BM25 = { k: 0.6, b: 0.4, d: 0.3 };

/** Earlier words count more: they name the act and its object, later ones describe the record. */
const weighPosition = (_term: string, position: number): number =>
  Math.max(0.3, 1 - 0.1 * position);

/** Typing errors are found in longer words only: short ones are too near to others. */
const allowFuzzy = (term: string): number | false => (term.length > 5 ? 0.2 : false);

type Entry = { id: string } & Record<keyof typeof BOOST, string>;

const toEntry = ({ name, title, description, inputSchema }: ListedTool): Entry => {
  const parts = name.split("_");
  const at = parts.findIndex((part, index) => index > 0 && part in acts);
  const act = parts[at] ?? "";
  return {
    id: name,
    noun: (at === -1 ? parts : parts.slice(0, at)).join(" "),
    act: `${act} ${acts[act] ?? ""}`,
    title,
    description,
    words: keywords[name] ?? "",
    given: Object.keys(inputSchema.properties).join(" "),
  };
};

// The share of its score that a tool loses if the query lacks its noun.
const UNNAMED = 0.6;

/** Returns the factor for a tool: less if its noun has words that the query lacks, such as the notes of a dispute. */
const weighNoun = (noun: readonly string[], queryTerms: ReadonlySet<string>): number => {
  const missing = noun.filter((term) => !queryTerms.has(term)).length;
  return noun.length === 0 ? 1 : 1 - (UNNAMED * missing) / noun.length;
};

/** Creates the search of tools, which returns their names, best first; of equal ones the first listed. */
export const createToolSearch = (): ((query: string) => string[]) => {
  const entries = everyTool.map(({ tool }) => toEntry(tool));
  const index = new MiniSearch<Entry>({
    fields: Object.keys(BOOST),
    tokenize: toTerms,
    processTerm: (term) => term,
    searchOptions: {
      boost: BOOST,
      bm25: BM25,
      fuzzy: allowFuzzy,
      boostTerm: weighPosition,
    },
  });
  index.addAll(entries);
  // The name of an insight has no noun and act.
  const nouns = new Map(
    entries.map(({ id, noun }) => [id, noun.replaceAll(" ", "_") === id ? [] : toTerms(noun)]),
  );
  const order = new Map(entries.map(({ id }, position) => [id, position]));
  return (query) => {
    const queryTerms = new Set(toTerms(query));
    const name = query.trim();
    const found = index
      .search(query)
      .map(({ id, score }: { id: string; score: number }) => ({
        id,
        score: score * weighNoun(nouns.get(id) ?? [], queryTerms),
      }))
      .toSorted((a, b) => b.score - a.score || (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
      .map(({ id }) => id);
    return order.has(name) ? [...new Set([name, ...found])] : found;
  };
};
