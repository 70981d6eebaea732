/** A record of the built-in authorization server. Its id is a hash and its payload sealed: a stolen store opens nothing. */
export type OauthRecordRow = {
  kind: string;
  id: string;
  /** The grant that it ends with. */
  grant_id: string | null;
  /** Whose it is. */
  owner: string | null;
  payload: string;
  consumed_at: number | null;
  expires_at: number;
};

export type OauthTables = { oauth_records: OauthRecordRow };
