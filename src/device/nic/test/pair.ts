import assert from 'node:assert/strict';
import { WcStatus } from '../../ibta/index.js';
import { SeededRandom, type SimulatedNetworkOptions } from '../../link/simulated/index.js';
import { CommandError } from '../index.js';
import type { HostOptions, QpOptions, TestHost } from './host.js';
import { type Captured, craft, type Crafted } from './packets.js';
import type { ConnectOptions, TestQp } from './qp.js';
import type { Completion } from './rings.js';
import { World } from './world.js';

/** What a test of two connected NICs starts from. */
export interface PairOptions {
  readonly network?: Partial<SimulatedNetworkOptions> & { readonly capture?: boolean };
  readonly host?: HostOptions;
  readonly ipv6?: boolean;
}

export interface ConnectedOptions {
  /** Attributes of both sides; those of one side alone come over them. */
  readonly both?: ConnectOptions;
  readonly a?: ConnectOptions;
  readonly b?: ConnectOptions;
  readonly qpA?: QpOptions;
  readonly qpB?: QpOptions;
}

/** Two hosts, `a` and `b`, joined by a wire of 5 µs. */
export class Pair extends World {
  readonly a: TestHost;
  readonly b: TestHost;

  constructor(options: PairOptions = {}) {
    super(options.network);
    this.a = this.host(options.ipv6 === true ? 'fd00::1' : '10.0.0.1', options.host);
    this.b = this.host(options.ipv6 === true ? 'fd00::2' : '10.0.0.2', options.host);
  }

  /** Makes a QP on each host and connects them up to RTS. */
  connect(options: ConnectedOptions = {}): { a: TestQp; b: TestQp } {
    const a = this.a.qp(options.qpA);
    const b = this.b.qp(options.qpB);
    const optionsA = { sqPsn: 0x1000, rqPsn: 0x2000, ...options.both, ...options.a };
    const optionsB = { ...options.both, sqPsn: optionsA.rqPsn, rqPsn: optionsA.sqPsn, ...options.b };
    a.toRts(b.peer, optionsA);
    b.toRts(a.peer, optionsB);
    return { a, b };
  }

  /** Packets sent by `a`, or by `b`, that satisfy `which`. */
  fromA(which: (packet: Captured) => boolean = () => true): Captured[] {
    return this.packets((packet) => packet.from === this.a.ip && which(packet));
  }

  fromB(which: (packet: Captured) => boolean = () => true): Captured[] {
    return this.packets((packet) => packet.from === this.b.ip && which(packet));
  }
}

/** A QP of a real NIC that is connected to a hand-played peer. */
export class Puppet extends World {
  readonly host1: TestHost;
  readonly qp: TestQp;
  /** Address and QP number of the peer that the test plays. */
  readonly peerAddress = '10.0.0.9';
  readonly peerQpn = 0x000777;

  constructor(options: ConnectOptions & { readonly qp?: QpOptions; readonly host?: HostOptions } = {}) {
    super();
    this.host1 = this.host('10.0.0.1', options.host);
    const peerLink = this.network.attach(this.peerAddress);
    this.qp = this.host1.qp(options.qp);
    this.qp.toRts({ gid: peerLink.gid, qpn: this.peerQpn }, { sqPsn: 0x1000, rqPsn: 0x2000, ...options });
  }

  /** The peer says something; the NIC acts at once. */
  say(fields: Omit<Crafted, 'destQp'> & { readonly destQp?: number }, from = this.peerAddress): void {
    this.deliver(from, this.host1.ip, this.crafted(fields, from));
  }

  /** The bytes of what the peer would say. */
  crafted(fields: Omit<Crafted, 'destQp'> & { readonly destQp?: number }, from = this.peerAddress): Uint8Array {
    return craft(from, this.host1.ip, { destQp: this.qp.qpn, ...fields });
  }

  /** Takes what the NIC has sent since the last call. */
  heard(): Captured[] {
    return this.wire.splice(0);
  }
}

/** Bytes that tell their place. */
export function pattern(length: number, seed = 1): Uint8Array {
  const random = new SeededRandom(seed);
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += 1) bytes[i] = random.u32() & 0xff;
  return bytes;
}

/** Asserts that exactly these requests completed, in this order, each with SUCCESS. */
export function assertCompleted(completions: readonly Completion[], wrIds: readonly bigint[]): void {
  assert.deepEqual(
    completions.map(({ wrId, status }) => ({ wrId, status: statusName(status) })),
    wrIds.map((wrId) => ({ wrId, status: 'SUCCESS' })),
  );
}

export function assertStatuses(
  completions: readonly Completion[],
  expected: readonly (readonly [bigint, WcStatus])[],
): void {
  assert.deepEqual(
    completions.map(({ wrId, status }) => [wrId, statusName(status)]),
    expected.map(([wrId, status]) => [wrId, statusName(status)]),
  );
}

export function statusName(status: WcStatus): string {
  return Object.entries(WcStatus).find(([, value]) => value === status)?.[0] ?? `status ${String(status)}`;
}

export function assertRefused(errno: string, call: () => unknown): void {
  assert.throws(call, (error) => {
    assert.ok(error instanceof CommandError, `not a CommandError: ${String(error)}`);
    assert.equal(error.errno, errno, error.message);
    return true;
  });
}

export { Captured, craft, type Crafted } from './packets.js';
export { dropping, World } from './world.js';
