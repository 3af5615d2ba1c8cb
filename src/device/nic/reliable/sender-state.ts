import type { Syndrome, WcStatus } from '../../ibta/index.js';
import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { connectedKinds, type RequestKind } from '../queue-pairs/request-kinds.js';
import { CongestionWindow } from './congestion-window.js';
import { FlushSeal } from './flush-seal.js';
import { RttEstimator } from './rtt-estimator.js';
import { SendWindow } from './send-window.js';

/** What a requester is doing about loss; docs/internals/reliability.md has the table of transitions. */
export const Phase = {
  /** Packets go out as window and fences allow. */
  SENDING: 0,
  /** A probe went out, and no packet was acknowledged since. */
  PROBING: 1,
  /** The probe was answered, but not all packets that were in flight: the rest of the answer is still due. */
  RESTING: 2,
  /** The peer sent an RNR NAK: no packet goes out before the timer ends. */
  RNR: 3,
  /** The requester went back to the oldest unacknowledged packet, and has sent none since: further NAKs are old. */
  REWOUND: 4,
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

/**
 * Packets after which one requests an acknowledgement, so that the window keeps moving. Half of the queue at most: a
 * program without signalled requests waits for room in it.
 */
const ACK_REQUEST_INTERVAL = 16;

/** What the timer of the queue pair was set for. */
export const TimerReason = {
  /** To request an acknowledgement, to probe, or to end {@link Phase.RESTING}. */
  ASK: 0,
  RETRY: 1,
  /** To end {@link Phase.RNR}. */
  RNR: 2,
} as const;
export type TimerReason = (typeof TimerReason)[keyof typeof TimerReason];

/** A request that failed locally; it ends the queue pair once every request before it is complete. */
interface StalledRequest {
  readonly index: number;
  readonly status: WcStatus;
  readonly syndrome: Syndrome;
  readonly detail: Int32Array;
}

/** Counts how often the peer requested the same packet again (NAK PSN sequence error), for the completion that reports it. */
export class SequenceErrors {
  #psn = -1;
  #times = 0;

  note(psn: number): void {
    this.#times = this.#psn === psn ? this.#times + 1 : 1;
    this.#psn = psn;
  }

  times(psn: number): number {
    return this.#psn === psn ? this.#times : 0;
  }

  forget(): void {
    this.#psn = -1;
  }
}

/**
 * The state of a reliable requester (RC and XRC). It is data: the functions of request-sender.ts, completer.ts, loss-recovery.ts and
 * completions.ts change it, and {@link ReliableRequester} connects them to the queue pair.
 */
export class SenderState {
  /** Which packets are assigned, sent and acknowledged. */
  readonly window: SendWindow;
  congestion = new CongestionWindow(256);
  readonly rtt = new RttEstimator();
  readonly sequenceErrors = new SequenceErrors();
  readonly flushSeal = new FlushSeal();
  /** The requests of this service, by `WrOpcode`. */
  readonly kinds: readonly (RequestKind | undefined)[];
  readonly ackRequestInterval: number;

  phase: Phase = Phase.SENDING;
  timerFor: TimerReason = TimerReason.RETRY;

  // Requesting acknowledgements, and probing.
  askNext = false;
  /** The next packet is the probe: the first unanswered one again. */
  probeNext = false;
  /** The packet sent last requests no acknowledgement, and belongs to a request that only ACKs answer. */
  tailUnasked = false;
  /** Whether the message packet built last requests an acknowledgement. */
  builtAsks = false;
  packetsSinceAckRequest = 0;
  lastTransmitUs = -Infinity;
  /** When packets are retransmitted if the peer does not answer. */
  retryAtUs = 0;
  /** The timer ran out and the peer is being asked: the next timer keeps {@link retryAtUs}. */
  keepsRetryTime = false;
  /** The timer ran out just before a transmission, and was set once more. */
  putOff = false;

  // Retries.
  retriesLeft = 0;
  rnrRetriesLeft = 0;
  /** How often the oldest unacknowledged packet was sent. */
  transmissions = 0;
  waitingSinceUs = 0;
  /** How often responses made the requester go back since there was progress, or since the timer ran out. */
  goBacks = 0;
  /** A gap in the responses made it go back: the rest of the same burst shows the same gap. */
  gapSeen = false;
  /** The retry timer ran out while this NIC was not run, and was set once more. */
  starved = false;
  /** What the link told of the peer's turns when packets were last sent again; -1: nothing. */
  peerBeat = -1;
  /** Whether packets were sent again without a retry, to see whether the peer takes turns. */
  hasAsked = false;
  stalled: StalledRequest | undefined;
  /** The peer's last packet refused a request that is complete here. */
  lateRefusal: { readonly psn: number; readonly code: number } | undefined;

  // Limits, kept here because every acknowledgement needs them and the attributes are far away in memory.
  ackTimeoutUs = Infinity;
  retryCnt = 0;
  rnrRetry = 0;
  /** Parts of a long READ that may be in flight: with two, the peer answers one while the other is requested. */
  readParts = 1;

  // This queue pair's part of counters of the NIC.
  retransmittedPkts = 0;
  lossProbes = 0;
  completerRetryErr = 0;
  rpCnpHandled = 0;

  constructor(
    readonly qp: QpContext,
    readonly core: NicCore,
  ) {
    this.kinds = connectedKinds(qp.opcodeClass);
    this.ackRequestInterval = Math.min(ACK_REQUEST_INTERVAL, qp.sq.entries >> 1);
    this.window = new SendWindow(qp.sq);
  }

  /** The QP goes to RTS, or to RESET with `psn` 0. */
  reset(psn: number): void {
    this.window.reset(psn);
    this.phase = Phase.SENDING;
    this.stalled = undefined;
    this.lateRefusal = undefined;
    this.askNext = false;
    this.lastTransmitUs = -Infinity;
    this.core.timers.disarm(this.qp.timerId);
    this.settle();
    this.reload();
  }

  /** Counters since the QP went to RTS. */
  resetCounters(): void {
    this.retransmittedPkts = 0;
    this.lossProbes = 0;
    this.completerRetryErr = 0;
    this.rpCnpHandled = 0;
  }

  /** A packet was acknowledged, so the peer is alive: all retries are available again. */
  reload(): void {
    this.retriesLeft = this.retryCnt;
    this.rnrRetriesLeft = this.rnrRetry;
    this.transmissions = 0;
    this.gapSeen = false;
    this.goBacks = 0;
    this.starved = false;
    this.peerBeat = -1;
    this.hasAsked = false;
  }

  /** No packet is in flight. */
  settle(): void {
    this.tailUnasked = false;
    this.keepsRetryTime = false;
    this.forgetProbe();
  }

  /** All unacknowledged packets are sent again, or none is left: a probe would tell nothing. */
  forgetProbe(): void {
    this.probeNext = false;
    if (this.phase === Phase.PROBING || this.phase === Phase.RESTING) this.phase = Phase.SENDING;
  }

  arm(reason: TimerReason, deadlineUs: number): void {
    this.timerFor = reason;
    this.core.timers.arm(this.qp.timerId, deadlineUs);
  }
}
