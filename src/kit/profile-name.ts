/** What a profile may be called: it becomes a file's name. */
export const PROFILE_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
