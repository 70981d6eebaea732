/** The form of the word in header names such as `X-Platform-Auth`. */
export const HEADER_WORD = /^[A-Za-z][A-Za-z0-9]{0,31}$/;

/** The word where neither settings nor a profile give one. */
export const DEFAULT_HEADER_WORD = "Platform";
