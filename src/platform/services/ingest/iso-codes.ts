import { codes as currencyCodes } from "currency-codes";
import { iso31661Alpha2ToAlpha3 } from "iso-3166/1-a2-to-1-a3.js";
import languages from "iso-639-1";
import type { Fault } from "../../../contract/errors.ts";

const COUNTRIES: ReadonlySet<string> = new Set(Object.keys(iso31661Alpha2ToAlpha3));

const CURRENCIES: ReadonlySet<string> = new Set(currencyCodes());

const KINDS = {
  currency: {
    knows: (code: string) => CURRENCIES.has(code),
    message: "must be a currency of ISO 4217",
  },
  language: {
    knows: (code: string) => languages.validate(code),
    message: "must be a language of ISO 639-1",
  },
  country: {
    knows: (code: string) => COUNTRIES.has(code),
    message: "must be a country of ISO 3166-1 alpha-2",
  },
};

/** Checks a code against the published list of its kind. An absent value has no faults. */
export const checkCode = (kind: keyof typeof KINDS, field: string, value: unknown): Fault[] => {
  const { knows, message } = KINDS[kind];
  return typeof value !== "string" || knows(value) ? [] : [{ field, code: "enum", message }];
};
