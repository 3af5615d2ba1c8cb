import type { PolledLink } from '../../../device/link/index.js';
import { ownTurn } from '../../../api/runtime/index.js';
import { inRootContext, type ReadableWatch, watchReadable } from '../../system/index.js';

/** Tells the event loop that packets have arrived on a link, whichever way they came. */
export class LinkWatch {
  #fds: readonly number[] = [];
  #watches: ReadableWatch[] = [];
  #armed = false;
  #isReferenced = true;
  /** A call that comes without anything becoming readable. */
  #soon: NodeJS.Immediate | undefined;
  readonly #callback: () => void;

  constructor(
    private readonly link: PolledLink,
    callback: () => void,
  ) {
    this.#callback = () => ownTurn(callback);
    this.follow();
  }

  /** Asks for one call of the callback when packets have arrived, now or later. Repeating it changes nothing. */
  arm(): void {
    this.#armed = true;
    for (const watch of this.#watches) watch.arm();
    if (this.link.setWatched(true)) this.soon();
  }

  /** Has the callback called, whether packets have arrived or not. */
  soon(): void {
    this.#soon ??= inRootContext(setImmediate, this.#deliver);
  }

  readonly #deliver = (): void => {
    this.#soon = undefined;
    this.#callback();
  };

  disarm(): void {
    this.#armed = false;
    this.link.setWatched(false);
    clearImmediate(this.#soon);
    this.#soon = undefined;
    for (const watch of this.#watches) watch.disarm();
  }

  /** Has it keep the process alive while it is armed, as at first. */
  ref(): void {
    this.#isReferenced = true;
    for (const watch of this.#watches) watch.ref();
  }

  /** Has it not do so. */
  unref(): void {
    this.#isReferenced = false;
    for (const watch of this.#watches) watch.unref();
  }

  /** The link's sockets may be others now: goes on with those. */
  follow(): void {
    const fds = this.link.pollFds;
    if (fds === this.#fds) return;
    this.#forget();
    this.#fds = fds;
    this.#watches = fds.map((fd) => watchReadable(fd, this.#callback));
    if (!this.#isReferenced) this.unref();
    if (this.#armed) this.arm();
  }

  /** Disarms. To be called before the link is closed. */
  close(): void {
    this.disarm();
    this.#forget();
  }

  #forget(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
    this.#fds = [];
  }
}
