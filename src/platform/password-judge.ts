// Imported by name, not as a whole: the bundler gives `import()` of a CommonJS package no names.
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";

/** A longer password is judged by its beginning, because the judgement takes time for each character. */
const JUDGED_CHARACTERS = 64;
/** Spellings such as `p4ssw0rd` that are tried for one word; with more of them, a check takes over 50 ms. */
const SUBSTITUTIONS = 4;

/** Judges how hard a password is to guess. Takes memory for the list of common passwords. */
export const judge = new ZxcvbnFactory({
  dictionary: { passwords: dictionary["passwords-common"] },
  graphs: adjacencyGraphs,
  l33tMaxSubstitutions: SUBSTITUTIONS,
  maxLength: JUDGED_CHARACTERS,
});
