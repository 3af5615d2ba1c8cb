import type { PeerTable } from '../stand-in/index.js';
import type { NicCounters } from './counters.js';
import type { AddressTable } from './datagram/address-table.js';
import type { CopyEngine } from './memory/copying/copy-engine.js';
import type { DataMover } from './memory/copying/data-mover.js';
import type { MemoryTable } from './memory/memory-table.js';
import type { NicEvents, NicLimits, SendFrame } from './nic-config.js';
import type { PacketBuilder } from './port/packet-builder.js';
import type { Port } from './port/port.js';
import type { Scheduled } from './queue-pairs/turns.js';
import type { SharedReceiveQueue } from './queues/shared-receive-queue.js';
import type { Timers } from './time/timers.js';

export interface NicCore {
  /** The present, as last told by `advanceTo`. */
  readonly nowUs: number;
  readonly builder: PacketBuilder;
  readonly memory: MemoryTable;
  readonly mover: DataMover;
  readonly copyEngine: CopyEngine;
  readonly counters: NicCounters;
  readonly timers: Timers;
  readonly limits: NicLimits;
  readonly events: NicEvents;
  readonly port: Port;
  /**
   * Where whoever fails a request puts the numbers that belong to it, just before the completion is written; one for
   * all queue pairs, since what each has of its own is touched for every message of thousands.
   */
  readonly detail: Int32Array;
  readonly addresses: AddressTable;
  readonly sendFrame: SendFrame;
  readonly peers: PeerTable;
  /** The XRC shared receive queue of that number in that domain, or undefined (protocol/services.md 3.3). */
  xrcSrq(srqn: number, xrcd: number): SharedReceiveQueue | undefined;
  /** Puts a QP into the queue of those that have packets to send. `due` says which of its halves has: bits of `PendingWork`. */
  schedule(qp: Scheduled, due: number): void;
  /** Lets a QP go that waits for a way to have room: it has another way now, or none. */
  unhold(qp: Scheduled): void;
}
