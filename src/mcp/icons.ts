/** The mark of the program, as drawn on its pages. */
export const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b6e5f"/><path d="M9 8h14v17l-3.5-2.2L16 25l-3.5-2.2L9 25z" fill="#fff"/><path d="M12.5 13h7M12.5 17h7" stroke="#0b6e5f" stroke-width="2" stroke-linecap="round"/></svg>';

/** The same at 64 by 64 pixels in 15 colors. */
const ICON_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABABAMAAABYR2ztAAAALVBMVEULbl8Lbl8Lbl8Lbl8Lbl8jfG87i39UmY9sqJ+Ftq+dxb+108/O4t/m8O/////F6FXOAAAABXRSTlMAQIDA/16yfc8AAADTSURBVHjaY2AAAUZlFwxgJMAAB0IuWIEiTJ7JBQdQgMgzmuBS4AyxRcQFJ3AEG+CCB4CMYManwACoQAWfAicCNoDsYMKvQIGBBb8CB3yehHhUBb8CJwYT/AqcGVwIABIUvEMBI1nB6xAIy3UfDgVPYcw4chUQtGI0HEbTJGkK7kIk7+JS8NJlHkgeTGFT8CbFxe3cOyiFRcHbFiDhcQ9KYVGwFUxGQymEAoKFGMFikGBBSrAoJliYE6wOCFYohKskgpUawWqRcMVKsGomXLnjbR4AAHnA/NvCSAjiAAAAAElFTkSuQmCC";

/** The icons of the server. They are data, because hosts without the network show them too. */
export const ICONS = [
  {
    src: `data:image/svg+xml;base64,${Buffer.from(ICON_SVG).toString("base64")}`,
    mimeType: "image/svg+xml",
    sizes: ["any"],
  },
  { src: `data:image/png;base64,${ICON_PNG}`, mimeType: "image/png", sizes: ["64x64"] },
];
