import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

type DialogProps = {
  title: string;
  confirm: string;
  /** Whether the confirming button can be used. */
  isReady?: boolean;
  children: ComponentChildren;
  onConfirm: () => void;
  onClose: () => void;
};

const MARGIN = 16;

/** Hosts make frames as tall as their pages, so that the middle of the frame may be out of sight. */
const placeNear = (dialog: HTMLElement, opener: Element): void => {
  const lowest = window.innerHeight - dialog.offsetHeight - MARGIN;
  const top = Math.max(MARGIN, Math.min(opener.getBoundingClientRect().top, lowest));
  dialog.style.marginTop = `${top}px`;
};

/**
 * A modal dialog; Escape and the first button close it. It has no form, because hosts may forbid forms in their
 * sandbox.
 */
export const Dialog = ({
  title,
  confirm,
  isReady = true,
  children,
  onConfirm,
  onClose,
}: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null);
  const label = useId();
  // Before the first paint: keys pressed after it belong to the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    if (element.current && opener) placeNear(element.current, opener);
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={label} onClose={onClose}>
      <h2 id={label}>{title}</h2>
      {children}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!isReady} onClick={onConfirm}>
          {confirm}
        </button>
      </div>
    </dialog>
  );
};
