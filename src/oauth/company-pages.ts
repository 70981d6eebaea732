/** The name of the account page in the addresses of the sign-in. */
export const ACCOUNT = "account";
/** Begins the name of an approval page there. */
export const APPROVE = "approve/";

/** Returns the name of an approval page in the addresses of the sign-in. */
export const toApproval = (id: string): string => APPROVE + id;
