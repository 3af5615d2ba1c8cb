import { Control } from '../wire/message.js';

export type Phase = 'OPEN' | 'WRITE_ENDED' | 'DEAF' | 'READ_ENDED' | 'PARTING' | 'PARTED';

/** What brings it further: this end's will, and what the peer says. */
export type Ending = 'endWrite' | 'endRead' | 'endBoth' | 'hearShutdown' | 'hearDisconnect';

export interface Step {
  readonly next: Phase;
  /** What the peer is told then, behind all that was written. */
  readonly say: Control | undefined;
}

export interface PhaseRules {
  /** More may come. */
  readonly reads: boolean;
  readonly writes: boolean;
  /** What becomes of data that comes. A lie is what the peer has said that it would not send. */
  readonly data: 'kept' | 'dropped' | 'a lie';
  /** Whether the peer is still told of credit. */
  readonly grants: boolean;
  readonly steps: Readonly<Record<Ending, Step>>;
}

const to = (next: Phase): Step => ({ next, say: undefined });
const SHUTTING_DOWN: Step = { next: 'WRITE_ENDED', say: Control.SHUTDOWN };
const DISCONNECTING: Step = { next: 'PARTING', say: Control.DISCONNECT };

/** The rules of every phase. What is said twice changes nothing: C's rsockets do that. */
export const PHASES: Readonly<Record<Phase, PhaseRules>> = {
  OPEN: {
    reads: true,
    writes: true,
    data: 'kept',
    grants: true,
    steps: {
      endWrite: SHUTTING_DOWN,
      endRead: to('DEAF'),
      endBoth: DISCONNECTING,
      hearShutdown: to('READ_ENDED'),
      hearDisconnect: to('PARTED'),
    },
  },
  WRITE_ENDED: {
    reads: true,
    writes: false,
    data: 'kept',
    grants: true,
    steps: {
      endWrite: to('WRITE_ENDED'),
      endRead: DISCONNECTING,
      endBoth: DISCONNECTING,
      // The peer has not heard this end's SHUTDOWN yet, or it would say DISCONNECT: both know that all is over, and neither says so.
      hearShutdown: to('PARTING'),
      hearDisconnect: to('PARTED'),
    },
  },
  /** This end reads no more, which the peer is not told. */
  DEAF: {
    reads: false,
    writes: true,
    data: 'dropped',
    grants: true,
    steps: {
      endWrite: DISCONNECTING,
      endRead: to('DEAF'),
      endBoth: DISCONNECTING,
      hearShutdown: to('READ_ENDED'),
      hearDisconnect: to('PARTED'),
    },
  },
  /** The peer has said SHUTDOWN. */
  READ_ENDED: {
    reads: false,
    writes: true,
    data: 'a lie',
    grants: true,
    steps: {
      endWrite: DISCONNECTING,
      endRead: to('READ_ENDED'),
      endBoth: DISCONNECTING,
      hearShutdown: to('READ_ENDED'),
      hearDisconnect: to('PARTED'),
    },
  },
  /** Both directions have ended. This end disconnects once the peer has all that was sent. */
  PARTING: {
    reads: false,
    writes: false,
    data: 'dropped',
    grants: false,
    steps: {
      endWrite: to('PARTING'),
      endRead: to('PARTING'),
      endBoth: to('PARTING'),
      hearShutdown: to('PARTING'),
      hearDisconnect: to('PARTING'),
    },
  },
  /** The peer has said DISCONNECT, and disconnects once this end has all that it has sent. */
  PARTED: {
    reads: false,
    writes: false,
    data: 'a lie',
    grants: false,
    steps: {
      endWrite: to('PARTED'),
      endRead: to('PARTED'),
      endBoth: to('PARTED'),
      hearShutdown: to('PARTED'),
      hearDisconnect: to('PARTED'),
    },
  },
};
