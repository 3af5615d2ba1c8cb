import {
  CreateCqAttrFlags,
  WC_STANDARD_FLAGS,
  WcExFlags,
  WcFlags,
  type WcOpcode,
  WcStatus,
} from '../../../../device/ibta/index.js';
import { Cqe } from '../../../../device/nic/index.js';
import {
  cqeProblem,
  cqFlagsProblem,
  type CqInitAttr,
  cqInitProblem,
  type CqModifyAttr,
  type FieldsOf,
  fieldsProblem,
  invalid,
  joinWords,
  joinWordsNumber,
  moderationProblem,
  refuse,
  Resource,
  type WorkCompletion,
} from '../../../../api/verbs/index.js';
import {
  pollAwaited,
  type ProvidedCq,
  startPollAwaited,
  unreadCount,
  unreadWrId,
} from '../../../../api/provider/index.js';
import { type NotifyingCq, type OpenDevice, refusalOf } from '../context-base.js';
import { CQ_MODERATION } from '../device-facts.js';
import { SoftCompChannel } from './completion-channel.js';
import { CompletionRing } from './completion-ring.js';

const CHANGES: FieldsOf<CqModifyAttr> = { moderate: true };
const POLL_DEFAULT = 16;
const NO_DETAIL: readonly number[] = [];
const TIMESTAMPS = WcExFlags.WITH_COMPLETION_TIMESTAMP | WcExFlags.WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

export class SoftCq extends Resource implements NotifyingCq, ProvidedCq {
  readonly cqn: number;
  readonly channel: SoftCompChannel | undefined;
  readonly cqContext: unknown;
  readonly slid = 0;
  readonly sl = 0;
  readonly dlidPathBits = 0;
  readonly cvlan = 0;
  readonly flowTag = 0;
  unacknowledged = 0;
  protected readonly label: string;

  /** Bits of `WcExFlags`. */
  readonly #fields: number;
  /** From the device's clock to nanoseconds since 1970. */
  readonly #wallClockOffsetNs: bigint;
  #ring: CompletionRing;
  #words: Int32Array;
  /** Word of the entry that startPoll or nextPoll moved to, or -1. */
  #at = -1;
  /** Between a startPoll that found something and endPoll. */
  #polling = false;

  constructor(
    readonly context: OpenDevice,
    init: CqInitAttr,
  ) {
    refuse('ibv_create_cq', cqInitProblem(init));
    const { cqe, channel, cqContext, wcFlags = WC_STANDARD_FLAGS, flags = 0 } = init;
    refuse('ibv_create_cq', cqeProblem(cqe, context.limits.maxCqe));
    refuse('ibv_create_cq', cqFlagsProblem(wcFlags, flags));
    const ours = channel instanceof SoftCompChannel && channel.context === context ? channel : undefined;
    if (channel !== undefined && ours === undefined)
      refuse('ibv_create_cq', invalid('the completion channel belongs to another context'));
    if (ours?.destroyed === true) refuse('ibv_create_cq', invalid('the completion channel was ended before'));
    const ring = new CompletionRing(cqe, context.hasThread);
    const ignoreOverrun = (flags & CreateCqAttrFlags.IGNORE_OVERRUN) !== 0;
    const create = { entries: cqe, memory: ring.memory, channel: ours?.handle, ignoreOverrun };
    const cqn = context.command('ibv_create_cq', 'createCq', create);
    super('ibv_destroy_cq', ours === undefined ? [context] : [context, ours]);
    this.cqn = cqn;
    this.channel = ours;
    this.cqContext = cqContext;
    this.label = `CQ ${cqn}`;
    this.#fields = wcFlags;
    this.#wallClockOffsetNs = context.adapter.wallClockNs() - context.adapter.deviceClockNs();
    this.#ring = ring;
    this.#words = ring.words;
    context.queues.set(cqn, this);
    ours?.queues.add(this);
  }

  get cqe(): number {
    return this.#ring.entries;
  }

  /** Another one after each {@link resize}. */
  get ring(): CompletionRing {
    return this.#ring;
  }

  get [unreadCount](): number {
    return this.#ring.unread;
  }

  [unreadWrId](index: number): number {
    const at = this.#ring.unreadAt(index);
    return joinWordsNumber(this.#words[at + Cqe.WR_ID_HI], this.#words[at + Cqe.WR_ID_LO]);
  }

  poll(numEntries = POLL_DEFAULT): WorkCompletion[] {
    this.assertAlive('ibv_poll_cq');
    if (!Number.isInteger(numEntries) || numEntries < 1)
      refuse('ibv_poll_cq', invalid(`numEntries is ${String(numEntries)}`, 'It is a number from 1 on'));
    if (this.#polling) refuse('ibv_poll_cq', invalid('a fast poll is under way', 'Call endPoll first'));
    const completions: WorkCompletion[] = [];
    if (!this.#find(false)) return completions;
    do {
      completions.push(this.#completion(this.#at));
      this.#at = this.#ring.next();
    } while (this.#at >= 0 && completions.length < numEntries);
    this.#at = -1;
    this.#ring.release();
    return completions;
  }

  reqNotify(solicitedOnly = false): void {
    this.assertAlive('ibv_req_notify_cq');
    if (this.channel === undefined)
      refuse('ibv_req_notify_cq', invalid(`${this.label} has no completion channel`, 'Give createCq one'));
    this.#ring.arm(solicitedOnly);
  }

  silence(): string | undefined {
    if (this.#ring.armed) return undefined;
    const { queued } = this.#ring;
    return `${this.label} has ${queued} completion${queued === 1 ? '' : 's'} and is not armed`;
  }

  ackEvents(count = 1): void {
    this.assertAlive('ibv_ack_cq_events');
    if (!Number.isInteger(count) || count < 0 || count > this.unacknowledged)
      refuse(
        'ibv_ack_cq_events',
        invalid(`${String(count)} events acknowledged, but ${this.unacknowledged} are outstanding`),
      );
    this.unacknowledged -= count;
  }

  startPoll(): boolean {
    this.assertAlive('ibv_start_poll');
    if (this.#polling) refuse('ibv_start_poll', invalid('a fast poll is under way', 'Call endPoll first'));
    this.#polling = this.#find(false);
    return this.#polling;
  }

  [startPollAwaited](): boolean {
    this.assertAlive('ibv_start_poll');
    if (this.#polling) refuse('ibv_start_poll', invalid('a fast poll is under way', 'Call endPoll first'));
    this.#polling = this.#find(true);
    return this.#polling;
  }

  [pollAwaited](): WorkCompletion | undefined {
    this.assertAlive('ibv_poll_cq');
    if (this.#polling) refuse('ibv_poll_cq', invalid('a fast poll is under way', 'Call endPoll first'));
    if (!this.#find(true)) return undefined;
    const completion = this.#completion(this.#at);
    this.#ring.next();
    this.#at = -1;
    this.#ring.release();
    return completion;
  }

  nextPoll(): boolean {
    if (!this.#polling) refuse('ibv_next_poll', invalid('no fast poll is under way', 'Begin by startPoll'));
    this.#at = this.#at >= 0 ? this.#ring.next() : this.#ring.peek();
    return this.#at >= 0;
  }

  endPoll(): void {
    if (!this.#polling) refuse('ibv_end_poll', invalid('no fast poll is under way', 'Begin by startPoll'));
    this.#ring.release(this.#at >= 0 ? 1 : 0);
    this.#at = -1;
    this.#polling = false;
  }

  resize(cqe: number): void {
    const call = 'ibv_resize_cq';
    this.assertAlive(call);
    refuse(call, cqeProblem(cqe, this.context.limits.maxCqe));
    const ring = new CompletionRing(cqe, this.context.hasThread);
    this.context.command(call, 'resizeCq', { cqn: this.cqn, memory: ring.memory, entries: cqe });
    ring.follow(this.#ring);
    this.#ring = ring;
    this.#words = ring.words;
    // A poll that is under way has given nothing back, so all that it has passed was copied as well.
    if (this.#at >= 0) this.#at = ring.peek();
  }

  modify(attr: CqModifyAttr): void {
    const call = 'ibv_modify_cq';
    this.assertAlive(call);
    refuse(call, fieldsProblem('attr', attr, CHANGES));
    const { moderate } = attr;
    refuse(call, moderationProblem(moderate, CQ_MODERATION));
    const { cqCount, cqPeriod: cqPeriodUs } = moderate;
    this.context.command(call, 'modifyCq', { cqn: this.cqn, cqCount, cqPeriodUs });
  }

  get wrId(): bigint {
    return joinWords(this.#words[this.#at + Cqe.WR_ID_HI], this.#words[this.#at + Cqe.WR_ID_LO]);
  }

  get wrIdNumber(): number {
    return joinWordsNumber(this.#words[this.#at + Cqe.WR_ID_HI], this.#words[this.#at + Cqe.WR_ID_LO]);
  }

  // The NIC writes nothing but values of these types there (layout: Cqe).

  get status(): WcStatus {
    return this.#words[this.#at + Cqe.STATUS] as WcStatus;
  }

  get opcode(): WcOpcode {
    return this.#words[this.#at + Cqe.OPCODE] as WcOpcode;
  }

  get vendorErr(): number {
    return this.#words[this.#at + Cqe.VENDOR_ERR];
  }

  get byteLen(): number {
    return this.#words[this.#at + Cqe.BYTE_LEN] >>> 0;
  }

  get immData(): number {
    return this.#words[this.#at + Cqe.IMM_DATA] >>> 0;
  }

  get invalidatedRkey(): number {
    return this.#words[this.#at + Cqe.IMM_DATA] >>> 0;
  }

  get qpNum(): number {
    return this.#words[this.#at + Cqe.QP_NUM];
  }

  get srcQp(): number {
    return this.#words[this.#at + Cqe.SRC_QP];
  }

  get wcFlags(): number {
    return this.#words[this.#at + Cqe.WC_FLAGS];
  }

  get completionTimestamp(): bigint {
    return (this.#fields & TIMESTAMPS) === 0 ? 0n : this.#timestamp(this.#at);
  }

  get completionWallclockNs(): bigint {
    if ((this.#fields & WcExFlags.WITH_COMPLETION_TIMESTAMP_WALLCLOCK) === 0) return 0n;
    const timestamp = this.#timestamp(this.#at);
    return timestamp === 0n ? 0n : timestamp + this.#wallClockOffsetNs;
  }

  workCompletion(): WorkCompletion {
    if (!this.#polling || this.#at < 0)
      refuse('ibv_start_poll', invalid('no completion is being looked at', 'Begin by startPoll'));
    return this.#completion(this.#at);
  }

  destroy(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_cq', 'destroyCq', this.cqn);
    this.context.queues.delete(this.cqn);
    this.channel?.queues.delete(this);
  }

  protected override busyReason(): string | undefined {
    const count = this.unacknowledged;
    return count === 0 ? undefined : `has ${count} events that were not acknowledged by ackEvents`;
  }

  /** Looks for a completion, and once more after the adapter had time to bring one. @param isAwaited whether the caller then awaits an event */
  #find(isAwaited: boolean): boolean {
    const { adapter, doorbell } = this.context;
    this.#ring.rewind();
    this.#at = this.#ring.peek();
    if (this.#at >= 0) {
      adapter.found();
      return true;
    }
    doorbell.settle();
    try {
      if (isAwaited && adapter.idleAwaited !== undefined) adapter.idleAwaited();
      else adapter.idle(this.#words, this.#ring.position);
    } catch (error) {
      throw refusalOf('ibv_poll_cq', error);
    }
    this.#at = this.#ring.peek();
    if (this.#at >= 0) return true;
    if (this.#ring.overrun)
      refuse('ibv_poll_cq', {
        errno: 'EIO',
        message: `${this.label} was overrun: more completions came than its ${this.cqe} entries hold`,
        advice: 'Make it as large as all queues that complete into it together',
      });
    return false;
  }

  /** The completion that begins at that word of {@link ring}. */
  completionAt(at: number): WorkCompletion {
    return this.#completion(at);
  }

  #timestamp(at: number): bigint {
    const words = this.#words;
    // A failure has other numbers there.
    if (words[at + Cqe.STATUS] !== WcStatus.SUCCESS) return 0n;
    return joinWords(words[at + Cqe.TIMESTAMP_HI], words[at + Cqe.TIMESTAMP_LO]);
  }

  #completion(at: number): WorkCompletion {
    const words = this.#words;
    const vendorErr = words[at + Cqe.VENDOR_ERR];
    const wcFlags = words[at + Cqe.WC_FLAGS];
    const qpNum = words[at + Cqe.QP_NUM];
    const value = words[at + Cqe.IMM_DATA] >>> 0;
    const status = words[at + Cqe.STATUS] as WcStatus;
    const completion: WorkCompletion = {
      wrId: joinWords(words[at + Cqe.WR_ID_HI], words[at + Cqe.WR_ID_LO]),
      status,
      opcode: words[at + Cqe.OPCODE] as WcOpcode,
      vendorErr,
      byteLen: words[at + Cqe.BYTE_LEN] >>> 0,
      immData: (wcFlags & WcFlags.WITH_IMM) === 0 ? 0 : value,
      invalidatedRkey: (wcFlags & WcFlags.WITH_INV) === 0 ? 0 : value,
      qpNum,
      srcQp: words[at + Cqe.SRC_QP],
      wcFlags,
      pkeyIndex: status === WcStatus.SUCCESS ? words[at + Cqe.PKEY_INDEX] : 0,
      slid: 0,
      sl: 0,
      dlidPathBits: 0,
      detail:
        vendorErr === 0
          ? NO_DETAIL
          : Array.from({ length: Cqe.DETAIL_WORDS }, (_, i) => words[at + Cqe.DETAIL + i] >>> 0),
    };
    if (status === WcStatus.SUCCESS)
      return (this.#fields & TIMESTAMPS) === 0
        ? completion
        : { ...completion, completionTimestamp: this.#timestamp(at) };
    // Only explanations of failures name the peer.
    const peer = this.context.pairs.get(qpNum)?.peer;
    return peer === undefined ? completion : { ...completion, peer };
  }
}
