import { faker as danish } from "@faker-js/faker/locale/da";
import { faker as german } from "@faker-js/faker/locale/de";
import { faker as canadian } from "@faker-js/faker/locale/en_CA";
import { faker as irish } from "@faker-js/faker/locale/en_IE";
import { faker as american } from "@faker-js/faker/locale/en_US";
import { faker as spanish } from "@faker-js/faker/locale/es";
import { faker as french } from "@faker-js/faker/locale/fr";
import { faker as quebecer } from "@faker-js/faker/locale/fr_CA";
import { faker as italian } from "@faker-js/faker/locale/it";
import { faker as dutch } from "@faker-js/faker/locale/nl";
import type { Address } from "../../contract/ingest-fields.ts";

/** Where somebody lives and what is spoken there. */
const PLACES = {
  US: { faker: american, country: "US", language: "en" },
  CA: { faker: canadian, country: "CA", language: "en" },
  QC: { faker: quebecer, country: "CA", language: "fr" },
  DE: { faker: german, country: "DE", language: "de" },
  FR: { faker: french, country: "FR", language: "fr" },
  NL: { faker: dutch, country: "NL", language: "nl" },
  IT: { faker: italian, country: "IT", language: "it" },
  ES: { faker: spanish, country: "ES", language: "es" },
  IE: { faker: irish, country: "IE", language: "en" },
  DK: { faker: danish, country: "DK", language: "da" },
} as const;

export type Place = keyof typeof PLACES;

export const languageOf = (place: Place): string => PLACES[place].language;

/** What the letters of a state or a province stand for. */
export const stateName = (place: Place, letters: string): string | undefined => {
  const { state, state_abbr: abbreviated } = PLACES[place].faker.definitions.location;
  return state?.[abbreviated?.indexOf(letters) ?? -1];
};

export type Name = { firstName: string; lastName: string };

/** Names and addresses that sound like their place and are nobody's. */
export type Fake = {
  name(place: Place): Name;
  address(place: Place): Address & { city: string };
  /** Of a range that no line has; undefined where a country keeps none free. */
  phone(place: Place): string | undefined;
};

// Ranges that are kept free for films and examples.
const PHONES: Partial<Record<Place, string>> = {
  US: "+1 ### 555 01##",
  CA: "+1 ### 555 01##",
  QC: "+1 ### 555 01##",
  DE: "+49 30 23125 ###",
  FR: "+33 1 99 00 ## ##",
  IE: "+353 20 91# ####",
};

// No area code begins with 0 or 1.
const AREA = /^\+1 ###/;

const stateAndZip = (place: Place) => {
  const { faker } = PLACES[place];
  if (place === "QC")
    return { state: "QC", zip: faker.helpers.fromRegExp(/H[1-9][A-C] [1-9][E-H][1-9]/) };
  if (place === "CA")
    return { state: "ON", zip: faker.helpers.fromRegExp(/L[1-9][P-T] [1-9][J-N][1-9]/) };
  if (place !== "US") return { zip: faker.location.zipCode() };
  const state = faker.location.state({ abbreviated: true });
  return { state, zip: faker.location.zipCode({ state }) };
};

/** The same seed gives the same answers to the same questions; ask them without waiting for anything between. */
export const createFake = (seed: number): Fake => {
  // Some places share words, and must not say them in the same order.
  for (const [index, { faker }] of Object.values(PLACES).entries()) faker.seed(seed + index);
  return {
    name(place) {
      const { person } = PLACES[place].faker;
      return { firstName: person.firstName(), lastName: person.lastName() };
    },
    address(place) {
      const { faker, country } = PLACES[place];
      return {
        address1: faker.location.streetAddress(),
        city: faker.location.city(),
        ...stateAndZip(place),
        country,
      };
    },
    phone(place) {
      const { faker } = PLACES[place];
      const pattern = PHONES[place];
      return pattern === undefined
        ? undefined
        : faker.helpers.replaceSymbols(
            pattern.replace(AREA, `+1 ${faker.number.int({ min: 2, max: 9 })}##`),
          );
    },
  };
};
