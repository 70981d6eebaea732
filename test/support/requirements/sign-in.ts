import type { Section } from "./section.ts";

/** Signing in without a password of the platform. */
export const SIGN_IN_SECTIONS: readonly Section[] = [
  {
    title: "Companies and programs",
    lines: {
      "RC-10":
        "assertions of the company's identity providers give tokens of a person's own rights",
      "RC-11": "clients without a person act with a role, by key or secret, until they are rotated",
      "RC-12":
        "people sign in at the company's OpenID provider, found by a verified e-mail address",
      "RC-13": "an issuer's tokens find people of the store by a claim",
    },
  },
];
