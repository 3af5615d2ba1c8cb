import type { Adapter, AdapterChores, AdapterClient, ClientParts } from '../../../device/adapter/index.js';
import type { AdapterFacts } from '../../../providers/soft/index.js';
import { type Life, ownTurn, SharedLife } from '../../../api/runtime/index.js';
import type { PolledLink } from '../../../device/link/index.js';
import { CommandError } from '../../../device/nic/index.js';
import { inRootContext, interfaceFacts, nowUs } from '../../system/index.js';
import { type AdapterSpec, openNativeAdapter, type StandInParts } from '../native-adapter.js';
import { LoopSpin } from '../event-loop/loop-spin.js';
import { standInFor } from '../stand-in/stand-in-thread.js';
import { requireRoom } from '../spare-room.js';
import { LinkWatch } from './link-watch.js';
import { moveIn, moveOut, type Resident } from './residents.js';

/** Turns for one event of the event loop, which others want to use as well. */
const TURNS_PER_EVENT = 16;
/** An alarm of the event loop that nothing moves comes no later, so that whatever was overlooked is overlooked for so long only. */
const MAX_ALARM_MS = 1000;

/** A NIC in the caller's own thread, for as long as somebody there has it open. */
export class InlineNic implements Resident {
  readonly facts: AdapterFacts;

  readonly #adapter: Adapter;
  readonly #link: PolledLink;
  readonly #pause: () => void;
  readonly #watch: LinkWatch;
  /** Of those who wait in the event loop, which moves it meanwhile. */
  readonly #watchers = new SharedLife(() => this.#beginWatching());
  #failure: string | undefined;
  #alarm: NodeJS.Timeout | undefined;
  #alarmUs = Infinity;
  /** Goes on while somebody waits. */
  readonly #spin = new LoopSpin({
    look: (now) => this.turn(now),
    wakeUp: () => this.#stayAwake(),
    fallAsleep: () => this.#fallAsleep(),
  });
  #choreTimer: NodeJS.Timeout | undefined;
  #open = true;
  /** Of a NIC with a stand-in, from its first connected queue pair on. */
  #endStandIn: (() => void) | undefined;
  #background: Life | undefined;

  /** @throws CommandError as `openNativeAdapter` */
  constructor(
    spec: AdapterSpec,
    readonly warn: (text: string) => void,
  ) {
    requireRoom();
    const { adapter, facts, link, pause, standIn } = openNativeAdapter(spec, warn);
    this.facts = facts;
    this.#adapter = adapter;
    this.#link = link;
    this.#pause = pause;
    this.#watch = new LinkWatch(link, () => this.#onReadable());
    moveIn(this);
    adapter.onDue = () => this.#onDue();
    if (standIn !== undefined) {
      standIn.peers.onFirst = () => this.#beginStandIn(standIn);
      // The event loop moves it whether anybody waits or not: the stand-in answers only while the program computes.
      this.#background = this.watch();
      this.#background.unref();
    }
    const { chores } = adapter;
    if (chores === undefined) return;
    chores.onRun = () => this.#scheduleChores(chores);
    this.#scheduleChores(chores);
  }

  /** Takes a client. @throws CommandError ENOMEM when there are too many, EIO when the NIC is broken, EINVAL when it was closed */
  attach(parts: ClientParts): AdapterClient {
    this.requireUsable();
    if (!this.#open) throw new CommandError('EINVAL', 'nobody has the device open any more');
    return this.#adapter.attach(parts);
  }

  /** Ends a client; with the last one the NIC goes as well. */
  detach(client: AdapterClient): void {
    const adapter = this.#adapter;
    const isLast = adapter.clients.every((other) => other === client);
    if (isLast) this.#close();
    else if (this.isUsable()) {
      // What was posted still leaves, and then what the ends of connections have to say.
      adapter.push(nowUs());
      adapter.detach(client);
      adapter.push(nowUs());
      this.#watch.follow();
    } else adapter.forget(client);
  }

  perform<T>(command: () => T): T {
    this.requireUsable();
    this.#adapter.nic.advanceTo(nowUs());
    try {
      return command();
    } finally {
      // A queue pair that comes back from SQD, or goes to ERR, may have something to send or to tell.
      if (this.isUsable()) this.push(nowUs());
      // Joining a group, and the like, opens or closes sockets.
      this.#watch.follow();
    }
  }

  /** Sends what was posted: as `Adapter.push`. */
  push(now: number): void {
    this.#adapter.push(now);
    if (this.#watchers.users === 0) return;
    this.#spin.stir(now);
    this.#setAlarm();
  }

  turn(now: number): boolean {
    if (!this.isUsable()) return false;
    const busy = this.#adapter.turn(now);
    if (this.#watchers.users === 0) return busy;
    // What is copied without anybody telling of its end is looked at until then.
    if (busy || this.#adapter.nic.copyEngine.isPolling) this.#spin.stir(now);
    this.#setAlarm();
    return busy;
  }

  get pollFds(): readonly number[] {
    return this.#link.pollFds;
  }

  pause(): void {
    this.#pause();
  }

  fallAsleep(): boolean {
    return this.#link.fallAsleep();
  }

  wakeUp(): void {
    this.#link.wakeUp();
  }

  nextTurnUs(): number {
    return this.#adapter.nextTurnUs();
  }

  /** Somebody waits in the event loop, which moves it until what is returned ends, and keeps the process alive. */
  watch(): Life {
    return this.#watchers.share();
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * An error of ours, or an interruption of the program (`vm` with a timeout, Ctrl-C where it is read line by line), may have ended
   * a call in the midst of the NIC's work. Nobody knows then what is half done, so nothing more is.
   */
  isUsable(): boolean {
    if (this.#failure !== undefined) return false;
    if (!this.#adapter.isBroken) return true;
    this.#failure =
      "the NIC was interrupted in the midst of its work, and can do no more; one whose host is 'thread' cannot be";
    moveOut(this);
    // Peers are not to wait for it.
    this.#endStandIn?.();
    this.#link.forsake?.();
    this.#adapter.broken();
    return false;
  }

  /** @throws CommandError EIO when nothing will come any more */
  requireUsable(): void {
    if (!this.isUsable()) throw new CommandError('EIO', this.#failure ?? '');
  }

  #close(): void {
    this.#open = false;
    moveOut(this);
    this.#endStandIn?.();
    this.#background?.end();
    this.#spin.end();
    this.#watch.close();
    this.#clearAlarm();
    clearTimeout(this.#choreTimer);
    if (this.isUsable()) {
      this.#adapter.push(nowUs());
      this.#adapter.close();
    } else this.#adapter.abandon();
  }

  /** Something is connected: peers wait for answers from now on. */
  #beginStandIn({ kept, memory }: StandInParts): void {
    const { gid, address } = this.facts;
    // A link-local address names its interface.
    const [, zone = ''] = address.split('%', 2) as [string, string?]; // a split gives at least one part
    const scopeId = zone === '' ? 0 : (interfaceFacts(zone)?.index ?? 0);
    const nic = { peers: memory, fd: this.#link.pollFds[0], ipv6: this.#link.ipv6, gid, scopeId };
    this.#endStandIn = standInFor(nic, kept, this.warn);
  }

  /** Chores also want doing when the program leaves its NIC alone, but are no reason for a process to live on. */
  #scheduleChores(chores: AdapterChores): void {
    clearTimeout(this.#choreTimer);
    if (!this.#open) return;
    const delayMs = Math.max(1, (chores.nextUs() - nowUs()) / 1000);
    const run = (): void => this.#doChores(chores);
    this.#choreTimer = inRootContext(setTimeout, run, Math.min(delayMs, MAX_ALARM_MS)).unref();
  }

  #doChores(chores: AdapterChores): void {
    if (this.isUsable()) chores.run(nowUs());
  }

  #beginWatching(): Life {
    this.#spin.stir(nowUs());
    if (!this.#spin.isAwake) this.#fallAsleep();
    return {
      ref: () => {
        this.#watch.ref();
        this.#alarm?.ref();
      },
      unref: () => {
        this.#watch.unref();
        this.#alarm?.unref();
      },
      end: () => {
        this.#spin.end();
        this.#stayAwake();
        this.#watch.ref();
      },
    };
  }

  /** Nothing wakes it any more, and it sleeps no more. */
  #stayAwake(): void {
    this.#watch.disarm();
    this.#clearAlarm();
  }

  #fallAsleep(): void {
    this.#watch.arm();
    this.#setAlarm();
  }

  #onReadable(): void {
    if (this.#watchers.users > 0) this.#spin.woken(nowUs());
    for (let turns = 0; turns < TURNS_PER_EVENT && this.turn(nowUs()); turns += 1);
    if (this.#watchers.users > 0 && !this.#spin.isAwake) this.#watch.arm();
  }

  /** Whoever polls has the turn soon; for who waits in the event loop there is nobody else. */
  #onDue(): void {
    if (this.#watchers.users === 0) return;
    this.#spin.stir(nowUs());
    // What does not look goes on as if something had become readable.
    if (!this.#spin.isAwake) this.#watch.soon();
  }

  readonly #onAlarm = (): void => {
    this.#alarmUs = Infinity;
    this.turn(nowUs());
  };

  /** While it looks by itself, it sees what the time is. */
  #setAlarm(): void {
    if (this.#spin.isAwake) return;
    const dueUs = this.#adapter.nextWakeupUs();
    // One that rings too early sets itself anew, which is cheaper than to move it at every turn.
    if (dueUs >= this.#alarmUs) return;
    this.#clearAlarm();
    this.#alarmUs = dueUs;
    // It keeps the process alive as those who wait do: what is awaited may come of what this timer makes happen.
    const delayMs = Math.min(Math.max(0, (dueUs - nowUs()) / 1000), MAX_ALARM_MS);
    this.#alarm = inRootContext(setTimeout, () => ownTurn(this.#onAlarm), delayMs);
    if (!this.#watchers.isReferenced) this.#alarm.unref();
  }

  #clearAlarm(): void {
    clearTimeout(this.#alarm);
    this.#alarm = undefined;
    this.#alarmUs = Infinity;
  }
}
