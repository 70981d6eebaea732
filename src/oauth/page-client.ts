/** The id by which the server's own page, on which people use the views, is a client. */
export const PAGE_CLIENT = "web-page";

/** Returns the metadata of that client. The page keeps its token in memory only. */
export const createPageClient = (issuer: string) => ({
  client_id: PAGE_CLIENT,
  client_name: "The web page of this server",
  redirect_uris: [`${issuer}/`],
});
