const texts = new WeakMap<Response, string>();

/** Creates a response whose text {@link findText} returns, so that a caller in this process need not read a stream. */
export const respondWithText = (text: string, init: ResponseInit): Response => {
  const response = new Response(text, init);
  texts.set(response, text);
  return response;
};

/** Returns the text of a response that {@link respondWithText} created; undefined for others. */
export const findText = (response: Response): string | undefined => texts.get(response);
