const DATA_ADDRESS = /^data:[^,]{0,255};base64,/i;

/**
 * Returns Base64 in its plain form: without the line ends of MIME (RFC 2045), the beginning of a `data:` address, or the
 * URL alphabet (RFC 4648, section 5), and with its padding. Other text stays other text.
 */
export const normalizeBase64 = (text: string): string => {
  const plain = text
    .trimStart()
    .replace(DATA_ADDRESS, "")
    .replaceAll(/[ \t\r\n]/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  return plain.includes("=") || plain.length % 4 < 2
    ? plain
    : plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
};
