import { gidFromIp, nodeGuid } from '../../device/ibta/index.js';
import { type SimulatedLinkOptions, SimulatedNetwork, type SimulatedNetworkOptions } from '../../device/link/index.js';
import { type Context, type Device, invalid, VerbsError } from '../../api/verbs/index.js';
import { DEVICE_NAME, NODE_TYPE, SoftContext, TRANSPORT_TYPE } from '../../providers/soft/index.js';
import { SimulatedHost } from './simulated-host.js';
import { type NicHome, SimulatedNic } from './simulated-nic.js';
import { Simulation } from './simulation.js';

/**
 * Devices joined by a network that exists in memory and in a time of its own: the verbs API without a socket or a
 * clock. The same seed and the same calls give the same run, to the byte.
 *
 * Time passes when somebody waits: polling an empty CQ, `getCqEvent`, awaiting an event, {@link step} or {@link run}.
 *
 * @example
 * ```ts
 * const cluster = new SimulatedCluster({ seed: 1, conditions: { loss: 0.01 } });
 * const a = cluster.open('10.0.0.1');
 * const b = cluster.open('10.0.0.2');
 * ```
 */
export class SimulatedCluster {
  /** The wire: its conditions, scripts and counts. */
  readonly network: SimulatedNetwork;
  /** @internal What moves it. */
  readonly simulation: Simulation;

  constructor(options: SimulatedNetworkOptions) {
    this.network = new SimulatedNetwork(options);
    this.simulation = new Simulation(this.network, options.seed);
  }

  /** Virtual time since the cluster began, in µs. */
  get nowUs(): number {
    return this.network.nowUs;
  }

  /**
   * Brings a device up at an address of the simulated network.
   *
   * @param home the host that it is in, where there is one
   * @throws VerbsError EINVAL when that is not an address, EADDRINUSE when another device is there
   */
  open(address: string, options: SimulatedLinkOptions = {}, home?: NicHome): Context {
    let link;
    try {
      link = this.network.attach(address, options);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const problem =
        error instanceof RangeError ? invalid(message) : { ...invalid(message), errno: 'EADDRINUSE' as const };
      throw new VerbsError('ibv_open_device', problem, { cause: error });
    }
    const nic = new SimulatedNic(this.simulation, link, link.address, home);
    return new SoftContext(new SimulatedDevice(this, link.address), new SimulatedHost(nic));
  }

  /**
   * Has a device, and the program that waits on it in the event loop, stand still until {@link resume}. What arrives
   * meanwhile waits in its inbox, and its timers are overdue afterwards, as after SIGSTOP.
   *
   * @throws VerbsError EINVAL for a context of another simulation, or none
   */
  pause(context: Context): void {
    this.#nicOf(context).pause();
  }

  /** Has it go on. @throws VerbsError EINVAL as {@link pause} */
  resume(context: Context): void {
    this.#nicOf(context).resume();
  }

  /**
   * Ends a device as a power failure would: nobody is told, neither peers nor the program that waits on it, whose promises
   * never settle. Its address is free again; packets under way to it reach whoever is there next. Objects can still be
   * ended and counters read; other calls throw EIO. Idempotent.
   *
   * @throws VerbsError EINVAL as {@link pause}
   */
  crash(context: Context): void {
    this.#nicOf(context).crash();
  }

  /**
   * Lets the next thing happen: whatever is due now, else time passes to the next packet or timer.
   *
   * @param untilUs time passes no further
   * @returns false when nothing is left to happen, at whatever time
   */
  step(untilUs = Infinity): boolean {
    return this.simulation.step(untilUs);
  }

  /**
   * Lets things happen until there are none left, or until `untilUs`.
   *
   * @throws RangeError when more than `maxSteps` happen before
   */
  run(untilUs = Infinity, maxSteps = 10_000_000): void {
    for (let steps = 0; this.nowUs < untilUs && this.step(untilUs); steps += 1) {
      if (steps >= maxSteps) throw new RangeError(`the simulation goes on after ${maxSteps} steps`);
    }
  }

  #nicOf(context: Context): SimulatedNic {
    const adapter = context instanceof SoftContext ? context.adapter : undefined;
    if (adapter instanceof SimulatedHost && adapter.nic.simulation === this.simulation) return adapter.nic;
    throw new VerbsError('ibv_open_device', invalid('that is not a device of this simulation'));
  }
}

/** A device of a simulation, as its context names it. */
class SimulatedDevice implements Device {
  readonly name = DEVICE_NAME;
  readonly guid: bigint;
  readonly nodeType = NODE_TYPE;
  readonly transportType = TRANSPORT_TYPE;

  constructor(
    private readonly cluster: SimulatedCluster,
    private readonly address: string,
  ) {
    this.guid = nodeGuid(gidFromIp(address));
  }

  open(): Context {
    return this.cluster.open(this.address);
  }
}
