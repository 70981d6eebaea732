/** Programs without a person (RFC 6749, section 4.4). */
export const CLIENT_CREDENTIALS = "client_credentials";

/** The profile of RFC 7523 that is accepted: identity assertion authorization grants. */
export const ID_JAG_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag";

/** Assertions of identity providers about people (RFC 7523). */
export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
