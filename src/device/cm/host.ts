import type { AhAttr, ErrnoName, Gid, Mtu, QpAttr, Syndrome } from '../ibta/index.js';
import type { CmCommandTable, CmEvent } from './command.js';

export interface CmTimerOwner {
  /** Its time has come; it is disarmed by then. */
  onTimer(): void;
}

/** Timers: numbers that owners take and release, each with at most one deadline. */
export interface CmTimers {
  take(): number;
  assign(id: number, owner: CmTimerOwner): void;
  release(id: number): void;
  /** Sets or moves the deadline, in µs on the host's clock. */
  arm(id: number, deadlineUs: number): void;
  /** It does not run out, and wakes nobody. */
  cancel(id: number): void;
}

/** What the connection manager uses of its device. It calls nothing else, so a test can stand in for the device. */
export interface CmHost {
  readonly nowUs: number;
  /** 32 unpredictable bits. */
  readonly random: () => number;
  readonly timers: CmTimers;
  readonly gids: readonly (Gid | undefined)[];
  readonly mtu: Mtu;
  readonly nodeGuid: bigint;
  /**
   * Whether an address is this machine's, and no device is there: nobody answers there unless a device comes. Absent, or false,
   * where that is not known.
   */
  isVacant?(destination: Gid): boolean;
  /** By which way packets of its peer came to a queue pair last (`PacketMeta.way`); undefined before the first. */
  wayOf?(qpNum: number): number | undefined;
  /** Sends a management datagram to queue pair 1 of another port. One that cannot leave is lost, as on the wire. */
  send(to: AhAttr, mad: Uint8Array): void;
}

/** What the connection manager has of one client of the device: a program, mostly. */
export interface CmClientHost {
  /** Identifiers that it may have, those of requests that wait for its answer included; default: as many as the device. */
  readonly maxIds?: number | undefined;
  /**
   * Moves a queue pair of the client; `cause` is what requests that a move to ERR flushes tell of it.
   *
   * @returns why that cannot be; nothing has changed then
   */
  modifyQp(qpNum: number, attr: Partial<QpAttr>, cause?: Syndrome): Refusal | undefined;
  /** The peer of a queue pair repeats a request so many times after RNR NAKs. */
  limitRnrRetries?(qpNum: number, rnrRetry: number): void;
  /** There is an event to be taken. Called from inside the connection manager: notes that and returns. */
  eventReady(): void;
}

export interface Refusal {
  readonly errno: ErrnoName;
  readonly message: string;
}

/** A management datagram that came to queue pair 1. */
export interface CmDatagram {
  readonly mad: Uint8Array;
  readonly source: Gid;
  readonly destination: Gid;
  readonly trafficClass: number;
  /** By which way it came (`PacketMeta.way`). Default: 0. */
  readonly way?: number;
}

/** What may grow, and how far: strangers can send requests, and programs make identifiers. */
export interface CmLimits {
  /**
   * Identifiers, those of requests that wait for an answer included. With as many connections, those included that programs
   * have left and peers have not ended, no request is taken.
   */
  readonly maxIds: number;
  /** Requests that the program has not taken, at one listener: Linux's `max_backlog`. */
  readonly maxBacklog: number;
  /** Requests that wait for an answer at all listeners. */
  readonly maxPending: number;
  /**
   * Connections that were accepted and whose peers have not said that they are ready. Beyond that the oldest ends
   * unconnected: one whose peer answers is ready within a round trip, and so not the oldest for long.
   */
  readonly maxHalfOpen: number;
  /** Connections that programs have left, and whose peers may not know it. Of these, too, the oldest goes first. */
  readonly maxFarewells: number;
  /** Answers to SIDR_REQ that are kept for repeats. */
  readonly maxAnswers: number;
}

export const DEFAULT_CM_LIMITS: CmLimits = {
  maxIds: 65536,
  maxBacklog: 1024,
  maxPending: 8192,
  maxHalfOpen: 1024,
  maxFarewells: 8192,
  maxAnswers: 1024,
};

/** Each command as a method: `CmCommandTable` says what they take and give. */
export type Commands = {
  readonly [V in keyof CmCommandTable]: (argument: CmCommandTable[V][0]) => CmCommandTable[V][1];
};

/**
 * One client of the connection manager: who has identifiers, and hears of what happens to them. Ports, and the names by which
 * peers know connections, are those of the device.
 */
export class CmClient {
  /** What it has not taken, the oldest first. */
  events: CmEvent[] = [];
  ids = 0;

  constructor(readonly host: CmClientHost) {}

  raise(event: CmEvent): void {
    this.events.push(event);
    this.host.eventReady();
  }
}
