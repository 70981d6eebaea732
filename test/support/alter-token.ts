/**
 * Returns `token`, which has at least two characters, with another last but one. That character
 * bears bits of the value in base64 of every length, so the result is never the same token: a fixed
 * ending can be that of the token.
 */
export const alterToken = (token: string): string =>
  token.slice(0, -2) + (token.at(-2) === "A" ? "B" : "A") + token.slice(-1);
