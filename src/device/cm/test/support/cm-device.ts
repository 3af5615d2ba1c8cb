import assert from 'node:assert/strict';
import {
  type CmConnect,
  type CmDatagram,
  type CmEvent,
  CmClient,
  type CmClientHost,
  type CmCommandTable,
  type CmHost,
  type CmLimits,
  type CmQp,
  type Commands,
  ConnectionManager,
  type Refusal,
} from '../../index.js';
import {
  type AhAttr,
  CmEventType,
  type Gid,
  gidFromIp,
  Mtu,
  nameOf,
  PortSpace,
  type QpAttr,
  QpState,
  QpType,
} from '../../../ibta/index.js';
import { SeededRandom } from '../../../link/simulated/index.js';
import type { Attached, TestNetwork } from './network.js';
import { TestTimers } from './timers.js';

export interface CmDeviceOptions {
  readonly limits?: Partial<CmLimits>;
  readonly mtu?: Mtu;
}

/** The defaults of most tests: `connect` says 4 READs in either direction. */
export const PARAMETERS = {
  privateData: new Uint8Array(0),
  responderResources: 4,
  initiatorDepth: 4,
  flowControl: false,
  rnrRetryCount: 7,
} as const;

/** A device without a NIC, with the connection manager that is tested, and a program that tests write. */
export class CmDevice implements CmHost, CmClientHost, Attached {
  readonly gid: Gid;
  readonly random: () => number;
  readonly timers = new TestTimers();
  readonly nodeGuid: bigint;
  readonly mtu: Mtu;
  readonly manager: ConnectionManager;
  readonly commands: Commands;
  gids: (Gid | undefined)[];
  /** How each queue pair was moved. */
  readonly moves = new Map<number, Partial<QpAttr>[]>();
  /** Says why a queue pair cannot be moved. */
  refusal: (qpNum: number, attr: Partial<QpAttr>) => Refusal | undefined = () => undefined;
  /** Says that no device is at an address. */
  isVacant: (gid: Gid) => boolean = () => false;
  /** Says by which way packets came to a queue pair. */
  wayOf: (qpNum: number) => number = () => 0;
  /** How often the program was told that there are events. */
  announced = 0;
  #nextQpn = 0x100;

  constructor(
    private readonly network: TestNetwork,
    readonly name: string,
    address: string,
    options: CmDeviceOptions = {},
  ) {
    this.gid = gidFromIp(address);
    this.gids = [this.gid];
    this.mtu = options.mtu ?? Mtu.MTU_1024;
    this.random = new SeededRandom(name.charCodeAt(0)).u32;
    this.nodeGuid = 0x0200_0000_0000_0000n + BigInt(name.charCodeAt(0));
    this.manager = new ConnectionManager(this, options.limits);
    this.commands = this.manager.commandsOf(new CmClient(this));
    network.attach(this);
  }

  // The device.

  get nowUs(): number {
    return this.network.nowUs;
  }

  send(to: AhAttr, mad: Uint8Array): void {
    const gid = this.gids[to.grh?.sgidIndex ?? 0] ?? this.gid;
    this.network.send({ name: this.name, gid }, to, mad);
  }

  modifyQp(qpNum: number, attr: Partial<QpAttr>): Refusal | undefined {
    const problem = this.refusal(qpNum, attr);
    if (problem !== undefined) return problem;
    const moves = this.moves.get(qpNum) ?? [];
    moves.push(attr);
    this.moves.set(qpNum, moves);
    return undefined;
  }

  eventReady(): void {
    this.announced += 1;
  }

  receive(datagram: CmDatagram): void {
    this.manager.receive(datagram);
  }

  // The program.

  /** A queue pair; `managed` unless a test has it otherwise. */
  qp(options: Partial<CmQp> = {}): CmQp {
    return { qpNum: this.#nextQpn++, qpType: QpType.RC, srq: false, managed: true, ...options };
  }

  /** States that a queue pair was moved to. */
  statesOf({ qpNum }: CmQp): string {
    return (this.moves.get(qpNum) ?? []).map(({ qpState }) => nameOf(QpState, qpState ?? -1)).join(' ');
  }

  /** What a queue pair was given with the move to a state. */
  moveTo({ qpNum }: CmQp, state: QpState): Partial<QpAttr> {
    const move = this.moves.get(qpNum)?.find(({ qpState }) => qpState === state);
    assert.ok(move, `queue pair ${qpNum} was never moved to ${nameOf(QpState, state)}`);
    return move;
  }

  newId(portSpace: PortSpace = PortSpace.TCP): number {
    return this.commands.cmCreateId({ portSpace });
  }

  bind(id: number, port: number, reuseAddr = false): number {
    return this.commands.cmBind({ id, port, reuseAddr });
  }

  listen(port: number, { portSpace = PortSpace.TCP, backlog = 0 }: { portSpace?: PortSpace; backlog?: number } = {}) {
    const id = this.newId(portSpace);
    this.bind(id, port);
    this.commands.cmListen({ id, backlog });
    return id;
  }

  /** Asks for a connection, with an identifier and a queue pair of its own unless others are given. */
  connect(
    to: { readonly gid: Gid },
    port: number,
    overrides: Partial<CmConnect> & { readonly portSpace?: PortSpace } = {},
  ): { readonly id: number; readonly qp: CmQp } {
    const { portSpace, id = this.newId(portSpace), qp = this.qp(), ...others } = overrides;
    const facts = { id, qp, destination: to.gid, port, retryCount: 7, trafficClass: 0 };
    this.commands.cmConnect({ ...PARAMETERS, ...facts, ...others });
    return { id, qp };
  }

  accept(id: number, overrides: Partial<CmCommandTable['cmAccept'][0]> = {}): CmQp {
    const { qp = this.qp(), ...others } = overrides;
    this.commands.cmAccept({ ...PARAMETERS, id, qp, ...others });
    return qp;
  }

  disconnect(id: number): void {
    this.commands.cmDisconnect(id);
  }

  destroy(id: number): void {
    this.commands.cmDestroyId(id);
  }

  /** Events since this was last asked. */
  take(): readonly CmEvent[] {
    return this.commands.cmTakeEvents(1_000_000);
  }

  /** The one event that there is, which is of that type. */
  takeOnly(type: CmEventType): CmEvent {
    const events = this.take();
    assert.equal(events.map((event) => nameOf(CmEventType, event.type)).join(' '), nameOf(CmEventType, type));
    return events[0];
  }

  /** Names of the events since this was last asked. */
  takeNames(): string {
    return this.take()
      .map(({ type }) => nameOf(CmEventType, type))
      .join(' ');
  }

  /** What is held: all of it is zero when nothing is left of anything. */
  get holdings(): { readonly identifiers: number; readonly connections: number; readonly timers: number } {
    const { identifiers, directory } = this.manager;
    return { identifiers: identifiers.size, connections: directory.size, timers: this.timers.taken };
  }
}

export const NOTHING_HELD = { identifiers: 0, connections: 0, timers: 0 } as const;
