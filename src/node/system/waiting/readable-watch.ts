/** Waits for one descriptor. Keeps the process alive while it is armed, unless it is not referenced, and only then. */
export interface ReadableWatch {
  /** Asks for one call of the callback when the descriptor is readable, now or later. Repeating it changes nothing. */
  arm(): void;
  disarm(): void;
  /** Whether it keeps the process alive: it does, to begin with. In a worker it always does. */
  ref(): void;
  unref(): void;
  /** Disarms for good. To be called before the descriptor is closed. */
  close(): void;
}
