/** Returns the response; `ended` is called once, after its last byte is sent or the client disconnects. */
export const onResponseEnd = (response: Response, ended: () => void): Response => {
  // Only streams take their time; any other answer is whole already.
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!isStream || response.body === null) {
    ended();
    return response;
  }
  const watched = new TransformStream({ flush: ended, cancel: ended });
  return new Response(response.body.pipeThrough(watched), response);
};
