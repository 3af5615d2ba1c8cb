import { type ReadableWatch, watchReadable } from '../host/index.js';
import type { UdpLink } from '../link/index.js';

/** Tells the event loop that packets have arrived on a link, whichever of its sockets they came by. */
export class LinkWatch {
  #fds: readonly number[] = [];
  #watches: ReadableWatch[] = [];
  #armed = false;

  constructor(
    private readonly link: UdpLink,
    private readonly callback: () => void,
  ) {
    this.follow();
  }

  /** Asks for one call of the callback when packets have arrived, now or later. Repeating it changes nothing. */
  arm(): void {
    this.#armed = true;
    for (const watch of this.#watches) watch.arm();
  }

  disarm(): void {
    this.#armed = false;
    for (const watch of this.#watches) watch.disarm();
  }

  /** The link's sockets may be others now: goes on with those. */
  follow(): void {
    const fds = this.link.pollFds;
    if (fds === this.#fds) return;
    this.close();
    this.#fds = fds;
    this.#watches = fds.map((fd) => watchReadable(fd, this.callback));
    if (this.#armed) this.arm();
  }

  /** Disarms. To be called before the link is closed. */
  close(): void {
    for (const watch of this.#watches) watch.close();
    this.#watches = [];
    this.#fds = [];
  }
}
