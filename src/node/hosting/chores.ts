import { type AdapterChores, type AdapterUsers, namedCounters, showObjects } from '../../device/adapter/index.js';
import type { ConnectionManager } from '../../device/cm/index.js';
import type { Link } from '../../device/link/index.js';
import type { Nic } from '../../device/nic/index.js';
import type { StatisticsFile } from '../statistics/index.js';

/** How often the link is asked how it stands with its address. Asking takes some 50 µs. */
const WATCH_US = 1_000_000;
/** How often counters are published, while they change. Publishing takes some 50 µs. */
const PUBLISH_US = 250_000;
/** Objects of each kind that are published with them: a queue pair takes 2 µs and 300 bytes, and a program may have thousands. */
const MAX_PUBLISHED = 100;

/**
 * What an adapter does now and then beside its work: it looks whether its address is still there, and lets other
 * processes see its counters.
 */
export class Chores implements AdapterChores {
  dueUs = 0;
  wanted = true;
  onRun: (() => void) | undefined;

  #watchUs = 0;
  #publishUs = 0;
  #hasAddress = true;
  #published = -1;
  /** Whether there was something to publish the last time, so that there may soon be more. */
  #busy = false;

  constructor(
    private readonly nic: Nic,
    private readonly cm: ConnectionManager,
    private readonly users: AdapterUsers,
    private readonly link: Link,
    private readonly file: StatisticsFile | undefined,
  ) {}

  run(nowUs: number): void {
    if (nowUs >= this.#watchUs) {
      this.#watch();
      this.#watchUs = nowUs + WATCH_US;
    }
    if (nowUs >= this.#publishUs) {
      this.#busy = this.#unpublished;
      if (this.#busy) this.#publish();
      this.#publishUs = this.file === undefined ? Infinity : nowUs + PUBLISH_US;
    }
    this.dueUs = Math.min(this.#watchUs, this.#publishUs);
    this.onRun?.();
  }

  nextUs(): number {
    return this.#busy || this.#unpublished ? this.dueUs : this.#watchUs;
  }

  get hasAddress(): boolean {
    return this.#hasAddress;
  }

  stopWatching(): void {
    this.#watchUs = Infinity;
  }

  close(): void {
    this.file?.close();
  }

  /** Counts that change with whatever happens. */
  get #activity(): number {
    const { sentPkts, rcvdPkts, completions, sendErr, linkDowned } = this.nic.counters;
    const { commands } = this.users;
    return sentPkts + rcvdPkts + completions + sendErr + linkDowned + commands + this.nic.control.qpChanges;
  }

  get #unpublished(): boolean {
    return this.file !== undefined && this.#activity !== this.#published;
  }

  #publish(): void {
    this.#published = this.#activity;
    const { nic, cm, link } = this;
    const counters = { nic: nic.counters.snapshot(), link: link.statistics(), cm: cm.counters.snapshot() };
    this.file?.write({
      portState: nic.port.state,
      counters: namedCounters(counters),
      ...showObjects(nic, cm, this.users, MAX_PUBLISHED),
    });
  }

  /** A port without its address is down, and its GID is none (protocol/services.md 3.11). With it, it is what it is wanted to be. */
  #watch(): void {
    const there = this.#isThere();
    if (there === this.#hasAddress) return;
    this.#hasAddress = there;
    const { control, port } = this.nic;
    const gids = [there ? this.link.gid : undefined, ...port.gids.slice(1)];
    control.administer({ linkUp: there && this.wanted, gids });
    this.#published = -1;
  }

  #isThere(): boolean {
    try {
      const { up, present } = this.link.refresh();
      return up && present;
    } catch {
      // Nobody can tell, for want of a file descriptor perhaps.
      return this.#hasAddress;
    }
  }
}
