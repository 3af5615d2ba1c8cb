import { AddressSpace } from '../../node/system/index.js';
import {
  completionRing,
  dropsOf,
  explainAmong,
  qpRings,
  takeAsyncEvent,
  watchCompletionQueue,
  watchQueuePair,
  watchSharedReceiveQueue,
} from '../../providers/soft/index.js';
import type { Ah, AsyncEvent, Context, Mr, Mw, Pd, WorkCompletion } from '../../api/verbs/index.js';
import type { GuestDevice } from '../launcher/guest-devices.js';
import { descriptorName, lockedMemoryLimit } from '../processes/processes.js';
import type { FailureReport } from '../reports/failure-report.js';
import { refusalText } from '../refusal.js';
import { inC } from '../reports/c-vocabulary.js';
import { RingFile } from '../rings/ring-file.js';
import { nameOf, QpState, QpType, WcStatus } from '../../device/ibta/index.js';
import { UndeliveredReplies } from '../notifications/undelivered-replies.js';
import { DoorbellLog, LOG_BYTES } from './doorbell-log.js';
import { EventFile } from './event-file.js';
import type { EndedObject, EventSubject, GuestChannel, GuestCq, GuestQp, GuestSrq } from './guest-objects.js';
import { HandleNumbers, Handles } from './handles.js';
import { Rota } from './rota.js';
import { Structs } from './structs.js';

/** What a command has come to, as the program gets it. */
export interface EncodedOutcome {
  readonly answer: Uint8Array;
  /** The part that rxe's provider reads. */
  readonly driver: Uint8Array;
  /** Ends what was made, where the program cannot be told of it. */
  readonly undo: (() => void) | undefined;
}

let opened = 0;
/** States in which a queue pair sends nothing, and a request is refused. */
const SILENT: readonly QpState[] = [QpState.RESET, QpState.INIT, QpState.RTR];
/** Up to so many queue pairs it takes less time to look at all of them than to read which one a doorbell names. */
const FEW_QPS = 4;
/** Destroyed objects that are remembered. */
const MOST_ENDED = 64;
/** Queues that one round looks at without a report of the program or the NIC. */
const LOOKS = 16;

/** A device as a program has opened it, and all that it has made by that. */
export class GuestContext {
  readonly name: string;
  readonly fd: number;
  readonly rings: RingFile;
  readonly asyncEvents: EventFile;
  readonly context: Context;

  readonly #numbers = new HandleNumbers();
  readonly pds = new Handles<Pd>(this.#numbers, 'PD');
  readonly mrs = new Handles<Mr>(this.#numbers, 'MR');
  readonly mws = new Handles<Mw>(this.#numbers, 'MW');
  readonly ahs = new Handles<Ah>(this.#numbers, 'AH');
  readonly cqs = new Handles<GuestCq>(this.#numbers, 'CQ');
  readonly qps = new Handles<GuestQp>(this.#numbers, 'QP');
  readonly srqs = new Handles<GuestSrq>(this.#numbers, 'SRQ');
  readonly undelivered = new UndeliveredReplies<EncodedOutcome>();
  readonly channels = new Map<string, GuestChannel>();

  /** Completion queues to which the NIC has written since the last {@link push}. */
  readonly #written = new Set<GuestCq>();
  /** Those where the program has to poll before more can be copied: it does so without a system call. */
  readonly #full = new Rota<GuestCq>();
  /** Queue pairs in ERR with a receive queue: what is posted there must be flushed, and no message asks for it. */
  readonly #dead = new Rota<GuestQp>();
  /** Queue pairs that had no room for all that was posted, and have some now. */
  readonly #resumed = new Set<GuestQp>();
  readonly #log: DoorbellLog;
  /** The last is that of the program that runs now, those before of what ran in its process before. */
  #memories: readonly AddressSpace[] = [];
  #open = true;
  /** The program's last doorbell was answered before its requests were taken. */
  goesOn = false;
  /** GET_CONTEXT was given, which each opened device takes once. */
  hasContext = false;

  /**
   * @param pid the process that opens it, whose memory it registers
   * @throws what says that there can be no more: VerbsError, SystemCallError
   */
  constructor(
    guest: GuestDevice,
    readonly pid: number,
    /** Who tells of requests that failed, if anybody does. */
    readonly failures: FailureReport | undefined,
    /** The devices of this launcher, which know more of what they have refused. */
    private readonly others: readonly Context[] = [],
  ) {
    this.context = guest.openClient(pid);
    const undo = [() => this.context.close()];
    try {
      this.asyncEvents = new EventFile(Structs.ASYNC_EVENT.bytes);
      undo.push(() => this.asyncEvents.close());
      opened += 1;
      this.rings = new RingFile(`verbena-uverbs-${opened}`, LOG_BYTES);
      undo.push(() => this.rings.close());
      this.#log = new DoorbellLog(this.rings);
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
    this.fd = this.rings.file.fd;
    this.name = descriptorName(process.pid, this.fd) ?? '';
  }

  get memory(): AddressSpace {
    const memory = this.#memories.at(-1);
    // A program that could not run another has what it had, and what may still become another's stays pinned.
    if (memory !== undefined && (!memory.isPinned || memory.isOfProcess)) return memory;
    const fresh = new AddressSpace(this.pid);
    this.#memories = [...this.#memories.filter((old) => !old.closeIfEnded()), fresh];
    return fresh;
  }

  /** As {@link GuestFile.executing}. */
  executing(): void {
    for (const memory of this.#memories) memory.pin();
  }

  /** Hands on to the NIC what the program has posted without a call. @returns whether there was anything */
  pull(): boolean {
    let found = this.#dead.visit(LOOKS, flushPosted);
    if (this.#log.take((handle) => void this.ring(handle))) found = true;
    return found;
  }

  /** Tells the program what the NIC has done. @returns whether there was anything */
  push(): boolean {
    let found = false;
    for (const guest of this.#resumed) {
      this.#resumed.delete(guest);
      if (guest.sends.pull()) found = true;
    }
    for (const cq of this.#written) {
      this.#written.delete(cq);
      if (this.#pushCompletions(cq)) found = true;
    }
    if (this.#full.visit(LOOKS, (cq) => this.#pushCompletions(cq))) found = true;
    for (let event = takeAsyncEvent(this.context); event !== undefined; event = takeAsyncEvent(this.context)) {
      this.#tell(event);
      found = true;
    }
    return found;
  }

  /** Whether something may have to be done without anybody saying so. */
  get needsLook(): boolean {
    return this.#log.isUsed || this.#dead.size > 0 || this.#full.size > 0;
  }

  /** Takes a queue pair. @returns its handle */
  addQp(guest: GuestQp): number {
    const { qp, sends, receives } = guest;
    watchQueuePair(qp, {
      send: {
        taken: () => {
          sends.giveBack();
          if (sends.isBlocked) this.#resumed.add(guest);
        },
      },
      receive: receives === undefined ? undefined : { refill: () => receives.pull(), taken: () => receives.giveBack() },
      stateChanged: () => {
        if (receives !== undefined && qp.state === QpState.ERR) this.#dead.add(guest);
        else this.#dead.delete(guest);
      },
    });
    return this.qps.add(guest);
  }

  /** A queue pair is about to be destroyed: says what only it knows. */
  endingQp(guest: GuestQp): void {
    this.#tellUnsignaled(guest);
    this.#tellDropsOf(guest);
  }

  removeQp(handle: number): void {
    const guest = this.qps.get(handle);
    this.qps.remove(handle);
    this.#dead.delete(guest);
    this.#resumed.delete(guest);
  }

  /** Takes a completion queue. @returns its handle */
  addCq(guest: GuestCq): number {
    watchCompletionQueue(guest.cq, {
      completed: () => void this.#written.add(guest),
      full: () => {
        if (!guest.isMoving) guest.completions.push();
      },
    });
    return this.cqs.add(guest);
  }

  removeCq(handle: number): void {
    const guest = this.cqs.get(handle);
    this.cqs.remove(handle);
    this.#written.delete(guest);
    this.#full.delete(guest);
  }

  /** Takes a shared receive queue. @returns its handle */
  addSrq(guest: GuestSrq): number {
    const { receives } = guest;
    watchSharedReceiveQueue(guest.srq, {
      refill: () => {
        if (!guest.isMoving) receives.pull();
      },
      taken: () => {
        if (!guest.isMoving) receives.giveBack();
      },
    });
    return this.srqs.add(guest);
  }

  channelOf(tid: number, fd: number): GuestChannel | undefined {
    return this.channels.get(descriptorName(tid, fd) ?? '');
  }

  /** Lets go of channels that the program has closed. */
  sweepChannels(isOpen: (name: string) => boolean): void {
    for (const [name, { users, events, channel }] of this.channels) {
      if (users > 0 || isOpen(name)) continue;
      this.channels.delete(name);
      channel.destroy();
      events.close();
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.tellDrops();
    for (const guest of this.qps) this.#tellUnsignaled(guest);
    this.context.close();
    this.#releaseQueues();
    for (const memory of this.#memories) memory.close();
    for (const { events } of this.channels.values()) events.close();
    this.asyncEvents.close();
    this.#log.close();
    this.rings.close();
  }

  #releaseQueues(): void {
    for (const { sends, receives } of this.qps) {
      sends.queue.release();
      receives?.queue.release();
    }
    for (const { receives } of this.srqs) receives.queue.release();
    for (const { completions } of this.cqs) completions.queue.release();
  }

  /** Whether a doorbell has to be read for the queue pair that it names. */
  get isCrowded(): boolean {
    return this.qps.size > FEW_QPS;
  }

  /** How much is to be moved for what was posted to that queue pair and can be sent; by default, to all of the few. */
  postedBytes(handle?: number): number {
    if (handle !== undefined) return bytesOf(this.qps.find(handle));
    let sum = 0;
    for (const guest of this.qps) sum += bytesOf(guest);
    return sum;
  }

  /** A doorbell for whichever of the few queue pairs something was posted to that can be sent. @returns whether there was any */
  ringPosted(): boolean {
    let found = false;
    for (const guest of this.qps) if (hasMessages(guest) && guest.sends.pull()) found = true;
    return found;
  }

  /** A doorbell of the program. @returns false where nothing can be sent: what was posted stays until the next */
  ring(handle: number): boolean {
    const guest = this.qps.find(handle);
    if (guest === undefined || SILENT.includes(guest.qp.state)) return false;
    guest.sends.pull();
    return true;
  }

  #pushCompletions(cq: GuestCq): boolean {
    const found = cq.completions.push();
    if (cq.completions.isHeldUp) this.#full.add(cq);
    else this.#full.delete(cq);
    if (cq.armed && !completionRing(cq.cq).armed) {
      cq.armed = false;
      cq.channel?.events.send(Structs.COMP_EVENT.encode({ userHandle: cq.userHandle }));
    }
    return found;
  }

  /** Objects that were destroyed before their events were acknowledged, the latest last. */
  readonly ended: EndedObject[] = [];

  remember(object: EndedObject): void {
    if (this.ended.length === MOST_ENDED) this.ended.shift();
    this.ended.push(object);
  }

  /** Forgets the asynchronous events of an object that has ended. @returns how many of them the program was told */
  forgetEvents(call: string, what: string, userHandle: bigint, completedAt: number): number {
    const eventsReported = this.asyncEvents.forget(userHandle);
    if (eventsReported > 0)
      this.remember({ call, what, userHandle, eventsReported, completedAt, acknowledge: 'ibv_ack_async_event' });
    return eventsReported;
  }

  /** An adapter frees a place of the send queue when a SIGNALED request behind it was polled; here, as with rxe, an ACK does. */
  #tellUnsignaled({ qp, sends, cap, sqSigAll }: GuestQp): void {
    const { mostUnsignaled } = sends;
    if (sqSigAll || mostUnsignaled <= cap.maxSendWr) return;
    const sentence =
      `passes here, and fails on an adapter: ${mostUnsignaled} requests in a row were not IBV_SEND_SIGNALED, more than its send queue ` +
      `holds (${cap.maxSendWr}), so ibv_post_send is ENOMEM there. Signal one at least that often, and poll its completion`;
    this.failures?.tell(this.pid, `QP ${hex(qp.qpNum)}`, sentence);
  }

  readonly #dropped = new WeakMap<GuestQp, number>();

  /** Says which queue pairs have dropped messages since it was said last: no packet and no completion does. */
  tellDrops(): void {
    if (this.failures !== undefined) for (const guest of this.qps) this.#tellDropsOf(guest);
  }

  #tellDropsOf(guest: GuestQp): void {
    const { qp } = guest;
    if (this.failures === undefined || qp.qpType === QpType.RC) return;
    const drops = dropsOf(qp);
    if (drops === undefined || drops.count === this.#dropped.get(guest)) return;
    this.#dropped.set(guest, drops.count);
    this.failures.tell(this.pid, `QP ${hex(qp.qpNum)} (${nameOf(QpType, qp.qpType)})`, inC(drops.sentence));
  }

  #registeredBytes = 0;
  #hasToldLimit = false;

  /** A region of so many bytes comes, or goes where that is negative: an adapter pins it, which RLIMIT_MEMLOCK limits. */
  registered(lengthBytes: number): void {
    this.#registeredBytes += lengthBytes;
    if (this.failures === undefined || this.#hasToldLimit || lengthBytes < 0) return;
    const limit = lockedMemoryLimit(this.pid);
    if (limit === undefined || this.#registeredBytes <= limit) return;
    this.#hasToldLimit = true;
    const sentence =
      `passes here, and fails on an adapter: ${this.#registeredBytes} bytes are registered, more than ulimit -l allows ` +
      `(${limit} bytes), which is ENOMEM there without CAP_IPC_LOCK`;
    this.failures.tell(this.pid, 'ibv_reg_mr', sentence);
  }

  /** Tells why a call of the program was refused. */
  refused(what: string, error: unknown): void {
    const reason = this.failures === undefined ? undefined : refusalText(error);
    if (reason !== undefined) this.failures?.tell(this.pid, what, reason);
  }

  /** Tells why a request has failed; of those that were flushed, another says more. */
  explain(wc: WorkCompletion): void {
    if (wc.status === WcStatus.WR_FLUSH_ERR) return;
    const { wrId, status, qpNum } = wc;
    const what = `QP ${hex(qpNum)}, wr_id ${hex(wrId)}, status ${status} (${nameOf(WcStatus, status)})`;
    this.failures?.tell(this.pid, what, inC(explainAmong(wc, this.context, this.others)));
  }

  #tell(event: AsyncEvent): void {
    if ('qp' in event && event.vendorErr !== undefined)
      this.failures?.tell(this.pid, `QP ${hex(event.qp.qpNum)}`, inC(this.context.explain(event)));
    const element = 'portNum' in event ? BigInt(event.portNum) : (subjectOf(event)?.userHandle ?? 0n);
    this.asyncEvents.send(Structs.ASYNC_EVENT.encode({ element, type: event.eventType }));
  }
}

/** Hands on what the program has posted to a queue pair in ERR. @returns whether there was anything */
function flushPosted({ qp, receives }: GuestQp): boolean {
  if (receives?.pull() !== true) return false;
  qpRings(qp).ring();
  return true;
}

/** Whether something was posted that can be sent. */
function hasMessages({ qp, sends }: GuestQp): boolean {
  return sends.hasPosted && !SILENT.includes(qp.state);
}

function bytesOf(guest: GuestQp | undefined): number {
  return guest !== undefined && hasMessages(guest) ? guest.sends.postedBytes : 0;
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Whom of the program's objects an event is about: each of ours has been given that to remember. */
function subjectOf(event: AsyncEvent): EventSubject | undefined {
  if ('cq' in event) return event.cq.cqContext as EventSubject;
  if ('srq' in event) return event.srq.srqContext as EventSubject;
  return 'qp' in event ? (event.qp.qpContext as EventSubject) : undefined;
}
