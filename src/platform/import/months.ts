/** Names of months and their usual abbreviations, without accents and points, in the languages that exports use. */
const NAMES: readonly string[] = [
  "jan january januar janner janv janvier ene enero gen gennaio januari",
  "feb february februar feber fev fevr fevrier febrero febbraio februari",
  "mar march mars marz maerz mrz marzo mrt maart",
  "apr april avr avril abr abril aprile",
  "may mai mayo mag maggio mei",
  "jun june juni juin junio giu giugno",
  "jul july juli juil juillet julio lug luglio",
  "aug august aou aout ago agosto augustus",
  "sep sept september septembre septiembre set sett settembre",
  "oct october okt oktober octobre octubre ott ottobre",
  "nov november novembre noviembre",
  "dec december dez dezember decembre dic diciembre dicembre",
];

const MONTHS: ReadonlyMap<string, string> = new Map(
  NAMES.flatMap((names, index) =>
    names.split(" ").map((name): [string, string] => [name, String(index + 1).padStart(2, "0")]),
  ),
);

const ACCENTS = /\p{M}/gu;

/** Returns the number of a month, `01` to `12`, by its name in English, German, French, Spanish, Italian or Dutch. */
export const findMonth = (name: string): string | undefined =>
  MONTHS.get(name.toLowerCase().normalize("NFD").replaceAll(ACCENTS, "").replace(/\.$/, ""));
