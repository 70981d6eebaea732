/** The form of a profile's name, which becomes a file name. */
export const PROFILE_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
