import type { EntryView } from './entry.js';
import type { Span } from './span.js';

/**
 * Is told of every change of a partition that its clients have asked for. Keys whose time comes, and those that a cache evicts, are none: what was said of them before
 * tells when they end, or does no harm.
 */
export interface Changes {
  /**
   * A key is about to change; it may yet be that it does not.
   *
   * @param entry what it is before; undefined when it is not there. Nothing of it holds after this has returned
   */
  changing(key: Span, entry: EntryView | undefined): void;
  /** It was set: that is what it is now. */
  set(entry: EntryView): void;
  /** It has another time to live. */
  touched(entry: EntryView): void;
  /** It was deleted. */
  deleted(key: Span): void;
}
