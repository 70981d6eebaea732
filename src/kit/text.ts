/** The text without these characters at its end. A pattern such as `/\/+$/` takes quadratic time for it. */
export const trimEndOf = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};

/** The text before the first of these characters. */
export const textBefore = (text: string, characters: string): string => {
  for (let at = 0; at < text.length; at += 1) {
    if (characters.includes(text.charAt(at))) return text.slice(0, at);
  }
  return text;
};
