import { gidFromIp, ipFromGid } from '../device/ibta/index.js';
import type { LinkConditions } from '../device/link/index.js';
import { SimulatedCluster } from './cluster/simulated-cluster.js';
import { invalid, objectProblem, refuse, show, VerbsError } from '../api/verbs/index.js';
import { here, machineHere } from './ambient.js';
import { Capture, formatSimPacket, formatUs, type SimPacket } from './capture.js';
import { SimHost, type SimHostOptions } from './host.js';
import { matcher, type PacketMatch } from './match.js';
import { checkFields } from './packet.js';
import { type HostRefs, type PathMatch, Paths } from './paths.js';
import { type Rule, type RuleMatch, Rules } from './rules.js';
import { describeWaiting, StalledError, whenStalled } from './waiting.js';

/** How a simulation starts. */
export interface SimOptions {
  /** Chooses everything that happens by chance: 0 to 2^32 - 1. Default: 1. */
  readonly seed?: number;
  /** Conditions of every way that has none of its own. Default: a perfect wire of 5 µs. */
  readonly conditions?: Partial<LinkConditions>;
  /** Bytes of packets that are kept for {@link Sim.packets}; the newest. Default: 64 MiB. */
  readonly captureBytes?: number;
  /**
   * Real milliseconds that a program may take for something outside of the simulation, when nothing is left to happen inside.
   * Default: 1000.
   */
  readonly patienceMs?: number;
}

/** How long something may take. */
export interface UntilOptions {
  /** µs of virtual time. Default: for ever, as long as something is left to happen. */
  readonly withinUs?: number;
}

/** Which part of the traffic goes into a capture file. */
export interface CaptureOptions {
  /** What these hosts sent and got. Default: all. */
  readonly at?: HostRefs;
}

/** The fields of {@link SimOptions}. */
export const SIM_OPTIONS: readonly (keyof SimOptions)[] = ['seed', 'conditions', 'captureBytes', 'patienceMs'];

const CAPTURE_BYTES = 64 * 1024 * 1024;
const PATIENCE_MS = 1000;
/** For a program that waits for something outside the simulation. */
const OUTSIDE =
  '\nOr is it something outside of the simulation, a file or a real timer? sim.outside(promise) waits for such.';
const MAX_SEED = 2 ** 32 - 1;

/**
 * Hosts on a network that exists in memory and in a time of its own. The same seed and the same program give the same run,
 * to the byte and the µs.
 *
 * Time passes while a program waits: in {@link until} and in `simulate`, while something of the package is awaited, in calls that
 * block, in {@link step} and {@link run}. It stands still while a program computes.
 */
export class Sim implements Disposable {
  /** What repeats this run. */
  readonly seed: number;

  readonly #cluster: SimulatedCluster;
  readonly #hosts = new Map<string, SimHost>();
  readonly #names = new Map<string, string>();
  readonly #paths: Paths;
  readonly #capture: Capture;
  readonly #rules: Rules;
  readonly #patienceMs: number;
  readonly #failureListeners = new Set<(error: unknown) => void>();
  #failure: { readonly error: unknown } | undefined;
  #closed = false;

  /** @throws VerbsError EINVAL for a seed, or conditions, that are none */
  constructor(options: SimOptions = {}) {
    const call = 'new Sim';
    refuse(call, objectProblem('options', options));
    checkFields(call, 'options', options, SIM_OPTIONS);
    const { seed = 1, conditions, captureBytes = CAPTURE_BYTES, patienceMs = PATIENCE_MS } = options;
    if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED)
      throw new VerbsError(call, invalid(`seed is ${show(seed)}`, `It is a number from 0 to ${MAX_SEED}`));
    this.seed = seed;
    this.#cluster = new SimulatedCluster({ seed });
    const { network } = this.#cluster;
    this.#patienceMs = patienceMs;
    this.#capture = new Capture(
      captureBytes,
      () => this.nowUs,
      (address) => this.#names.get(address) ?? address,
    );
    this.#rules = new Rules(this.#capture, this.#hosts);
    this.#paths = new Paths(network, this.#hosts);
    network.watcher = this.#capture;
    network.onPacket = this.#guarded((packet) => this.#rules.judge(packet), 'pass');
    if (conditions !== undefined) this.#paths.set(call, conditions);
  }

  /** Virtual time since the simulation began, in µs. */
  get nowUs(): number {
    return this.#cluster.nowUs;
  }

  /** All hosts, in the order in which they were made. */
  get hosts(): readonly SimHost[] {
    return [...this.#hosts.values()];
  }

  /**
   * Makes a host.
   *
   * @param name by which other hosts reach it
   * @throws VerbsError EEXIST when there is one of that name; EADDRINUSE when another has its address; EINVAL for what is not a name
   *   or no address
   */
  host(name: string, options: SimHostOptions = {}): SimHost {
    const call = 'sim.host';
    if (typeof name !== 'string' || name === '')
      throw new VerbsError(call, invalid(`name is ${show(name)}`, 'It is a text'));
    refuse(call, objectProblem('options', options));
    if (this.#hosts.has(name))
      throw new VerbsError(call, {
        errno: 'EEXIST',
        message: `there is a host ${name} already`,
        advice: 'Give it another name',
      });
    const { address = this.#freeAddress(), ...link } = options;
    const canonical = canonicalAddress(call, address);
    const owner = this.#names.get(canonical);
    if (owner !== undefined)
      throw new VerbsError(call, { errno: 'EADDRINUSE', message: `the host ${owner} is at ${canonical}`, advice: '' });
    const lookup = (asked: string): readonly string[] => {
      const found = this.#hosts.get(asked);
      return found === undefined ? [] : [found.address];
    };
    const host = new SimHost({ cluster: this.#cluster, name, address: canonical, link, lookup });
    this.#hosts.set(name, host);
    this.#names.set(canonical, name);
    return host;
  }

  /**
   * Changes how the network treats packets, from now on: delay, jitter, loss, bursts, bandwidth and so on; what is not named
   * stays as it was.
   *
   * @param path which ways; default: all, those of hosts to come included
   * @throws VerbsError EINVAL for a probability outside of 0 to 1 and the like, or hosts that there are not
   */
  setConditions(changes: Partial<LinkConditions>, path?: PathMatch): void {
    this.#paths.set('sim.setConditions', changes, path);
  }

  /**
   * Cuts hosts off from others, both ways; by default from everybody else, but not from each other.
   *
   * @throws VerbsError EINVAL for hosts that there are not
   */
  partition(hosts: HostRefs, others?: HostRefs): void {
    const call = 'sim.partition';
    this.#paths.set(call, { partitioned: true }, { between: [hosts, others ?? this.#paths.allBut(call, hosts)] });
  }

  /** Cuts one way only: nothing gets from some hosts to others. @throws VerbsError EINVAL for hosts that there are not */
  cut(from: HostRefs, to: HostRefs): void {
    this.#paths.set('sim.cut', { partitioned: true }, { from, to });
  }

  /** Ends partitions and cuts: all, those of some hosts, or those between some and others. @throws VerbsError EINVAL as above */
  heal(hosts?: HostRefs, others?: HostRefs): void {
    const path = hosts === undefined ? undefined : ({ between: [hosts, others ?? this.hosts] } as const);
    this.#paths.set('sim.heal', { partitioned: false }, path);
  }

  /** Loses packets. @throws VerbsError EINVAL for a match that makes no sense */
  drop(match: RuleMatch): Rule {
    return this.#rules.add('sim.drop', 'drop', match, 'drop');
  }

  /** Holds packets back for so many µs more, while later ones pass them. @throws VerbsError EINVAL */
  delay(match: RuleMatch, delayUs: number): Rule {
    if (typeof delayUs !== 'number' || !(delayUs >= 0))
      throw new VerbsError('sim.delay', invalid(`delayUs is ${show(delayUs)}`, 'It is a number of µs'));
    return this.#rules.add('sim.delay', 'delay', match, { delayUs });
  }

  /** Has packets arrive twice. @throws VerbsError EINVAL */
  duplicate(match: RuleMatch): Rule {
    return this.#rules.add('sim.duplicate', 'duplicate', match, 'duplicate');
  }

  /** Turns bits of packets over: their ICRC is wrong then, and the receiver drops and counts them. @throws VerbsError EINVAL */
  corrupt(match: RuleMatch): Rule {
    return this.#rules.add('sim.corrupt', 'corrupt', match, 'corrupt');
  }

  /** Calls `action` as packets are sent, before they arrive: to crash a host in the middle of a message. @throws VerbsError EINVAL */
  when(match: RuleMatch, action: (packet: SimPacket) => void): Rule {
    requireFunction('sim.when', action);
    return this.#rules.add('sim.when', 'when', match, this.#noticed(here(action)));
  }

  /** Calls `action` when virtual time reaches `timeUs`, or at once when that has passed. */
  at(timeUs: number, action: () => void): void {
    if (typeof timeUs !== 'number' || !(timeUs >= 0))
      throw new VerbsError('sim.at', invalid(`timeUs is ${show(timeUs)}`, 'It is a number of µs'));
    requireFunction('sim.at', action);
    this.#cluster.network.at(timeUs, this.#guarded(this.#noticed(here(action)), undefined));
    this.#cluster.simulation.stirred();
  }

  /** Resolves when so many µs of virtual time have passed; for a program on a host that has crashed meanwhile, never. */
  sleep(us: number): Promise<void> {
    if (typeof us !== 'number' || !(us >= 0))
      return Promise.reject(new VerbsError('sim.sleep', invalid(`us is ${show(us)}`, 'It is a number of µs')));
    const { simulation, network } = this.#cluster;
    const stopRunning = simulation.keepRunning();
    const machine = machineHere();
    return new Promise((resolve) => {
      network.at(this.nowUs + us, () => {
        stopRunning();
        simulation.announced();
        if (machine === undefined) resolve();
        else machine.whenUp(resolve);
      });
    });
  }

  /** Time stands still until a promise settles that something outside of the simulation settles: a file that is read. */
  async outside<T>(work: Promise<T>): Promise<T> {
    const goOn = this.#cluster.simulation.hold();
    try {
      return await work;
    } finally {
      goOn();
    }
  }

  /** Lets the next thing happen. @returns false when nothing is left to happen */
  step(): boolean {
    const stepped = this.#cluster.step();
    this.#throwFailure();
    return stepped;
  }

  /**
   * Lets things happen without a break: those who wait in the event loop run afterwards.
   *
   * @param untilUs default: until nothing is left to happen
   * @throws VerbsError ETIMEDOUT when it goes on for ever
   */
  run(untilUs = Infinity): void {
    try {
      this.#cluster.run(untilUs);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new VerbsError(
        'sim.run',
        { errno: 'ETIMEDOUT', message: error.message, advice: 'Give it a time' },
        { cause: error },
      );
    }
    this.#throwFailure();
  }

  /**
   * Lets time pass until a promise settles, or a condition, which is asked after each step, is truthy.
   *
   * @returns what the promise, or the condition, gives
   * @throws StalledError (the promise rejects) when nothing is left to happen before, or `withinUs` is over: with what everybody
   *   is waiting for; VerbsError ECANCELED when the simulation has ended; what the promise, the condition, or an action of {@link at} or {@link when} throws
   */
  async until<T>(what: PromiseLike<T> | (() => T), { withinUs = Infinity }: UntilOptions = {}): Promise<T> {
    this.#requireOpen('sim.until');
    const { simulation } = this.#cluster;
    const from = new Error();
    const ends = [simulation.keepRunning()];
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#failureListeners.add(reject);
        ends.push(() => void this.#failureListeners.delete(reject));
        if (this.#failure !== undefined) reject(asError(this.#failure.error));
        if (typeof what === 'function') ends.push(this.#check(here(what), resolve, reject));
        else what.then(resolve, reject);
        if (withinUs !== Infinity)
          ends.push(
            simulation.timer(withinUs, () => reject(this.#stalled(`not within ${formatUs(withinUs)}`, '', from))),
          );
        const nothing = (): void => reject(this.#stalled('nothing is left to happen', OUTSIDE, from));
        ends.push(whenStalled(this.#cluster, this.#patienceMs, nothing));
      });
    } finally {
      for (const end of ends) end();
    }
  }

  /**
   * The packets that were sent so far, the oldest first, those included that never arrived.
   *
   * @param match default: all
   * @throws VerbsError ENOBUFS when more were sent than are kept (`captureBytes`); EINVAL for a match that makes no sense
   */
  packets(match: PacketMatch = {}): SimPacket[] {
    return this.#capture.packets().filter(matcher('sim.packets', match, this.#hosts));
  }

  /**
   * Writes the packets into a pcapng file, for Wireshark, `verbena explain` and `verbena dump`: each as it was sent, with its
   * fate in a comment, and again each time it arrived, as it came. pcapng's direction tells the two apart.
   *
   * @param options - `at`: only what these hosts sent and got: what a capture that was made there would show. Default: all
   * @returns where it was written: elsewhere, when another capture is being written into that file
   * @throws VerbsError EINVAL for hosts that there are not; LinkError when the file cannot be written
   */
  writeCapture(path: string, { at }: CaptureOptions = {}): string {
    if (at === undefined) return this.#capture.write(path, () => true);
    const addresses = new Set(this.#paths.hostsOf('sim.writeCapture', at).map(({ address }) => address));
    return this.#capture.write(path, (address) => addresses.has(address));
  }

  /** How many packets were sent, delivered, lost and so on. */
  statistics(): Readonly<Record<string, number>> {
    return this.#cluster.network.statistics();
  }

  /** What everybody is waiting for, host by host: for error messages. */
  waiting(): string {
    return describeWaiting(this.hosts);
  }

  /** The newest packets, a line each: for error messages. */
  trace(count = 10): string {
    return this.#capture.newest(count).map(formatSimPacket).join('\n');
  }

  /** @internal Rules that were never met and should have been. */
  get unmetRules(): readonly Rule[] {
    return this.#rules.unmet;
  }

  /** Ends it: time stops for good. Nobody is told, and promises of programs that are still waiting never settle. */
  close(): void {
    this.#closed = true;
    this.#cluster.simulation.stop();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #check<T>(condition: () => T, resolve: (value: T) => void, reject: (error: Error) => void): () => void {
    const { simulation } = this.#cluster;
    let asking = false;
    const check = (): void => {
      // A condition that polls an empty queue lets time pass, after which it would be asked from within itself.
      if (asking) return;
      asking = true;
      try {
        const value = condition();
        if (!value) return;
        // The waiter must see the moment at which the condition holds.
        simulation.announced();
        resolve(value);
      } catch (error) {
        reject(asError(error));
      } finally {
        asking = false;
      }
    };
    check();
    return simulation.observe({ stepped: check });
  }

  #stalled(message: string, advice: string, from: Error): StalledError {
    const { nowUs } = this;
    const waiting = this.waiting();
    const text = `${message} at ${formatUs(nowUs)}. What everybody is waiting for:\n${waiting}${advice}`;
    return new StalledError(text, { waiting, nowUs, from });
  }

  #requireOpen(call: string): void {
    if (!this.#closed) return;
    throw new VerbsError(call, {
      errno: 'ECANCELED',
      message: 'the simulation has ended',
      advice: 'simulate ends it when its function is through: await in it what is to happen in it',
    });
  }

  /** The first of 10.0.0.1, 10.0.0.2 and so on that no host has. */
  #freeAddress(): string {
    for (let number = 1; ; number += 1) {
      const address = `10.0.${number >> 8}.${number & 0xff}`;
      if (!this.#names.has(address)) return address;
    }
  }

  /** A function of the program, which may resolve a promise: no time passes before those who await that have had their turn. */
  #noticed<Arguments extends unknown[]>(action: (...args: Arguments) => void): (...args: Arguments) => void {
    return (...args) => {
      this.#cluster.simulation.announced();
      action(...args);
    };
  }

  /** An error thrown during traffic rejects those who wait, and disturbs nothing else. */
  #guarded<Arguments extends unknown[], Result>(
    action: (...args: Arguments) => Result,
    instead: Result,
  ): (...args: Arguments) => Result {
    return (...args) => {
      try {
        return action(...args);
      } catch (error) {
        this.#failure ??= { error };
        for (const reject of [...this.#failureListeners]) reject(error);
        return instead;
      }
    };
  }

  #throwFailure(): void {
    if (this.#failure === undefined) return;
    const { error } = this.#failure;
    this.#failure = undefined;
    throw asError(error);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function requireFunction(call: string, action: unknown): void {
  if (typeof action !== 'function')
    throw new VerbsError(call, invalid(`action is ${show(action)}`, 'It is a function'));
}

function canonicalAddress(call: string, address: string): string {
  try {
    return ipFromGid(gidFromIp(address));
  } catch (error) {
    throw new VerbsError(call, invalid(`address is ${show(address)}`, 'It is an IP address'), { cause: error });
  }
}
