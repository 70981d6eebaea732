import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";

type DialogProps = {
  title: string;
  confirm: string;
  /** Whether the confirming button can be used. */
  isReady?: boolean;
  /** Whether the person has typed something, which is discarded only after a question. */
  isTyped?: boolean;
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

const Discard = ({ keep, discard }: { keep: () => void; discard: () => void }) => {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <div class="alert" role="alert">
      <p>What you typed is not saved.</p>
      <div class="actions">
        <button type="button" onClick={discard}>
          Discard it
        </button>
        <button type="button" ref={button} onClick={keep}>
          Keep writing
        </button>
      </div>
    </div>
  );
};

/** Opens the dialog, and returns the focus to its opener at its end. */
const useModal = () => {
  const element = useRef<HTMLDialogElement>(null);
  // Before the first paint: keys pressed after it belong to the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    if (element.current && opener) placeNear(element.current, opener);
    // While the dialog is in the page, nothing else can have the focus.
    return () =>
      queueMicrotask(() => {
        if (opener instanceof HTMLElement) opener.focus();
      });
  }, []);
  return element;
};

/**
 * A modal dialog; Escape and the first button close it. It has no form, because hosts may forbid forms in their
 * sandbox.
 */
export const Dialog = ({
  title,
  confirm,
  isReady = true,
  isTyped = false,
  children,
  onConfirm,
  onClose,
}: DialogProps) => {
  const element = useModal();
  const [isAsking, setAsking] = useState(false);
  const label = useId();
  const leave = (event?: Event): void => {
    event?.preventDefault();
    if (isTyped) setAsking(true);
    else onClose();
  };
  return (
    <dialog
      ref={element}
      aria-labelledby={label}
      onKeyDown={(event) => {
        if (event.key === "Escape") leave(event);
      }}
      onCancel={leave}
      onClose={() => {
        // A browser closes the dialog at the second request, even if the person kept it open at the first.
        if (isTyped) element.current?.showModal();
        leave();
      }}
    >
      <h2 id={label}>{title}</h2>
      {children}
      {isAsking && isTyped ? (
        <Discard keep={() => setAsking(false)} discard={onClose} />
      ) : (
        <div class="actions">
          <button type="button" onClick={() => leave()}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={!isReady} onClick={onConfirm}>
            {confirm}
          </button>
        </div>
      )}
    </dialog>
  );
};
