import assert from 'node:assert/strict';
import { SimulatedNetwork, type SimulatedNetworkOptions, type Verdict } from '../../link/simulated/index.js';
import { type HostOptions, TestHost } from './host.js';
import { Captured } from './packets.js';

export interface DriveOptions {
  /** Stops at this virtual time. Default: 100 s from now. */
  readonly untilUs?: number;
  /** Stops once this holds. */
  readonly until?: () => boolean;
}

const DEFAULT_DRIVE_US = 100e6;
/** More events than any test needs: beyond it two hosts talk for ever. */
const MAX_STEPS = 3_000_000;
/** Steps without time passing, after which the NIC must be running in a circle. */
const MAX_IDLE_STEPS = 100_000;

/** Hosts on a simulated network under virtual time. Nothing happens unless a test lets it. */
export class World {
  readonly network: SimulatedNetwork;
  readonly hosts: TestHost[] = [];
  /** Every packet put on the wire, in order, before chance and conditions act on it; empty unless capturing. */
  readonly wire: Captured[] = [];
  /** Decides over each packet; default: pass. */
  script: ((packet: Captured) => Verdict) | undefined;

  constructor(options: Partial<SimulatedNetworkOptions> & { readonly capture?: boolean } = {}) {
    this.network = new SimulatedNetwork({ seed: 1, ...options });
    if (options.capture !== false) {
      this.network.onPacket = (packet) => {
        const captured = Captured.of(packet);
        this.wire.push(captured);
        return this.script?.(captured) ?? 'pass';
      };
    }
  }

  host(address: string, options: HostOptions = {}): TestHost {
    const host = new TestHost(this.network, address, { seed: 1000 + this.hosts.length, ...options });
    this.hosts.push(host);
    return host;
  }

  get nowUs(): number {
    return this.network.nowUs;
  }

  /** One turn of every host's pump at the present time, and what copies from and to foreign memory have held up. */
  turn(): void {
    this.turnOnce();
    for (let next = this.#nextCopyUs(); next !== Infinity; next = this.#nextCopyUs()) {
      this.network.advanceTo(Math.max(next, this.nowUs));
      this.turnOnce();
    }
  }

  /** When something happens next: a packet arrives, a timer is due, or a packet waits in an inbox. */
  nextUs(): number {
    let next = this.network.nextEventUs();
    for (const host of this.hosts) {
      if (host.link.waiting > 0) return this.nowUs;
      next = Math.min(next, host.nic.nextWakeupUs(), host.nextCopyUs);
    }
    return next;
  }

  /** Jumps to the next event and lets every host act on it; false when nothing is going to happen. */
  step(): boolean {
    const next = this.nextUs();
    if (next === Infinity) return false;
    this.network.advanceTo(Math.max(next, this.nowUs));
    this.turnOnce();
    return true;
  }

  /** Steps until nothing is left to happen or a bound is reached. Time then stands at the bound, if one was given. */
  drive(options: DriveOptions = {}): void {
    const untilUs = options.untilUs ?? this.nowUs + DEFAULT_DRIVE_US;
    let idleSteps = 0;
    this.turnOnce();
    for (let steps = 0; ; steps += 1) {
      assert.ok(steps < MAX_STEPS, 'the hosts never come to rest');
      if (options.until?.() === true) return;
      const next = this.nextUs();
      if (next > untilUs || next === Infinity) break;
      idleSteps = next > this.nowUs ? 0 : idleSteps + 1;
      assert.ok(idleSteps < MAX_IDLE_STEPS, `time stands still at ${String(this.nowUs)} us`);
      this.step();
    }
    if (options.untilUs !== undefined) {
      this.network.advanceTo(options.untilUs);
      this.turnOnce();
    }
  }

  /** Lets `durationUs` pass. */
  run(durationUs: number): void {
    this.drive({ untilUs: this.nowUs + durationUs });
  }

  /** A hand-made packet goes straight into the inbox of the host at `to`, which then acts. */
  deliver(from: string, to: string, bytes: Uint8Array): void {
    this.network.inject(from, to, bytes);
    this.network.advanceTo(this.nowUs);
    this.turn();
  }

  /** Packets on the wire that satisfy `which`. */
  packets(which: (packet: Captured) => boolean): Captured[] {
    return this.wire.filter(which);
  }

  /** As {@link turn}, but for such copies. */
  protected turnOnce(): void {
    const { nowUs } = this.network;
    for (const host of this.hosts) host.turn(nowUs);
  }

  #nextCopyUs(): number {
    return Math.min(Infinity, ...this.hosts.map(({ nextCopyUs }) => nextCopyUs));
  }
}

/** A script that drops the packets whose number among those that satisfy `which` is listed, counting from 1. */
export function dropping(which: (packet: Captured) => boolean, ...numbers: number[]): (packet: Captured) => Verdict {
  let count = 0;
  return (packet) => {
    if (!which(packet)) return 'pass';
    count += 1;
    return numbers.includes(count) ? 'drop' : 'pass';
  };
}
