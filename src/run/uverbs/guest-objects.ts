import type { CompChannel, Cq, Qp, Srq } from '../../api/verbs/index.js';
import type { QpCap } from '../../device/ibta/index.js';
import type { CompletionTranslation } from '../rings/completion-translation.js';
import type { ReceiveTranslation } from '../rings/receive-translation.js';
import type { SendTranslation } from '../rings/send-translation.js';
import type { EventFile } from './event-file.js';

// What a program's objects are made of, where that is more than an object of ours.

/** A completion channel: the program's file of events, and the channel of ours that makes queues raise them. */
export interface GuestChannel {
  readonly events: EventFile;
  readonly channel: CompChannel;
  users: number;
}

export interface GuestCq {
  readonly cq: Cq;
  readonly completions: CompletionTranslation;
  readonly userHandle: bigint;
  readonly channel: GuestChannel | undefined;
  /** The program waits for an event. */
  armed: boolean;
  /** How often the program has asked for an event (`ibv_req_notify_cq`), and whether the last time for solicited ones alone. */
  requests: number;
  solicitedOnly: boolean;
  /** It is about to continue in another queue; until then nothing may be copied. */
  isMoving: boolean;
}

export interface GuestQp {
  readonly qp: Qp;
  readonly userHandle: bigint;
  readonly sends: SendTranslation;
  /** Absent where it takes from a shared queue. */
  readonly receives: ReceiveTranslation | undefined;
  readonly cap: QpCap;
  /** Each request is SIGNALED. */
  readonly sqSigAll: boolean;
}

export interface GuestSrq {
  readonly srq: Srq;
  readonly userHandle: bigint;
  readonly receives: ReceiveTranslation;
  /** As of {@link GuestCq}. */
  isMoving: boolean;
}

/** An object that the program has destroyed: libibverbs waits until it has acknowledged the events of it that it was told. */
export interface EndedObject {
  /** The call that waits. */
  readonly call: string;
  /** `CQ 1`. */
  readonly what: string;
  /** Address of its structure in the program, where the wait takes place. */
  readonly userHandle: bigint;
  readonly eventsReported: number;
  /** What acknowledges them. */
  readonly acknowledge: string;
  /** Where in that structure the program counts what it has acknowledged, where that is known (`struct ibv_cq`, ABI 1.x). */
  readonly completedAt?: number;
}

/** What objects of ours remember, so that asynchronous events about them can be told to the program. */
export interface EventSubject {
  readonly userHandle: bigint;
}
