import { WcStatus } from '../../../src/device/ibta/index.js';
import { SeededRandom, SimulatedNetwork } from '../../../src/device/link/index.js';
import { Captured } from '../../../src/device/nic/test/packets.js';
import { check } from '../failure.js';
import type { Figures } from '../game.js';
import { DeviceHost } from './device-host.js';
import { Life } from './life.js';
import { type DeviceMemoryPlan, type LinePlan, planDeviceMemory } from './plan.js';

const MAX_EVENTS = 1_000_000;
/** A program that has nothing to do looks less and less often. */
const MAX_IDLE_PACE_US = 500;
const MAX_VIRTUAL_US = 120e6;
/** How long after the end packets, and what devices still do, are let run out. */
const AFTERMATH_US = 20_000;

/** One seeded run: two hosts with a device each, programs that use its memory, and a model of it all. */
class Run {
  readonly #random: SeededRandom;
  readonly #network: SimulatedNetwork;
  readonly #hosts: readonly [DeviceHost, DeviceHost];
  readonly #counts: Record<string, number> = {};
  readonly #lives = new Set<Life>();
  #linesLeft: number;

  constructor(
    private readonly plan: DeviceMemoryPlan,
    trace: ((line: string) => void) | undefined,
  ) {
    const { seed, conditions, devices, lines } = plan;
    this.#random = new SeededRandom(seed ^ 0x11fe);
    this.#network = new SimulatedNetwork({ seed, conditions });
    if (trace !== undefined)
      this.#network.onPacket = (packet) => {
        trace(Captured.of(packet).toString());
        return 'pass';
      };
    const [first, second] = devices;
    this.#hosts = [new DeviceHost(this.#network, 0, first, seed), new DeviceHost(this.#network, 1, second, seed)];
    this.#linesLeft = lines.length;
    for (const line of lines) this.#live(line, 0);
  }

  execute(): Figures {
    for (let events = 0; this.#linesLeft > 0; events += 1) {
      check(
        events < MAX_EVENTS && this.#network.nowUs < MAX_VIRTUAL_US,
        () => `not done after ${this.#network.nowUs.toFixed(0)} us:\n${this.#rest()}`,
      );
      this.#step();
    }
    const untilUs = this.#network.nowUs + AFTERMATH_US;
    while (this.#nextUs() <= untilUs) this.#step();
    for (const host of this.#hosts) this.#checkQuiet(host);
    return { counts: this.#counts, network: this.#network.statistics(), virtualUs: this.#network.nowUs };
  }

  #live(line: LinePlan, number: number): void {
    if (number === line.lives.length) {
      this.#linesLeft -= 1;
      return;
    }
    const [from, to] = [this.#hosts[line.from], this.#hosts[1 - line.from]];
    const plan = line.lives[number];
    const life = new Life(line, plan, from, to, new SeededRandom(this.#random.u32()));
    this.#lives.add(life);
    let { paceUs } = line;
    const look = (): void => {
      paceUs = life.look() ? line.paceUs : Math.min(1.5 * paceUs, MAX_IDLE_PACE_US);
      if (!life.hasEnded) {
        this.#later(paceUs * (0.5 + this.#random.fraction()), look);
        return;
      }
      this.#lives.delete(life);
      this.#account(life);
      this.#later(line.paceUs, () => this.#live(line, number + 1));
    };
    if (plan.intervention !== undefined)
      this.#later(plan.atUs, () => {
        const copies = from.machine.slotsInUse + to.machine.slotsInUse;
        if (!life.hasEnded) this.#count(copies > 0 ? 'interventions over copies' : 'other interventions');
        life.intervene();
      });
    look();
  }

  #later(delayUs: number, action: () => void): void {
    this.#network.at(this.#network.nowUs + delayUs, action);
  }

  #turnUs(dueUs: number): number {
    const { turnEveryUs } = this.plan;
    return turnEveryUs === 0 ? dueUs : Math.ceil(dueUs / turnEveryUs) * turnEveryUs;
  }

  #nextUs(): number {
    const { nowUs } = this.#network;
    return Math.min(this.#network.nextEventUs(), ...this.#hosts.map((host) => this.#turnUs(host.dueUs(nowUs))));
  }

  #step(): void {
    const nextUs = this.#nextUs();
    check(nextUs !== Infinity, () => `nothing is going to happen, and this is open:\n${this.#rest()}`);
    this.#network.advanceTo(Math.max(nextUs, this.#network.nowUs));
    const { nowUs } = this.#network;
    for (const host of this.#hosts) {
      if (this.#turnUs(host.dueUs(nowUs)) <= nowUs) host.turn(nowUs);
      checkFaults(host.gpu.faults);
    }
  }

  /** Nothing is under way any more, and nothing is held: then the NIC lets go of the device, and has nothing of it. */
  #checkQuiet(host: DeviceHost): void {
    const { gpu, machine, host: testHost } = host;
    // Where nobody tells, nobody has looked since the last copy was given up.
    machine.poll();
    if (!gpu.isLost) check(machine.slotsInUse === 0, () => `${machine.slotsInUse} slots of staging memory are in use`);
    check(host.openMemories === 0, () => `${host.openMemories} buffers are held that no region lies in`);
    testHost.nic.abandonCopies();
    machine.close();
    const untilUs = this.#network.nowUs + AFTERMATH_US;
    while (this.#network.nextEventUs() <= untilUs) this.#network.advanceTo(this.#network.nextEventUs());
    const left = gpu.isLost ? [] : gpu.leftovers();
    check(left.length === 0, () => `left over: ${left.join(', ')}`);
    check(gpu.buffers.size === 0, () => `${gpu.buffers.size} buffers are left over`);
    checkFaults(gpu.faults);
    for (const [where, count] of Object.entries(host.counts)) this.#count(`misfortunes at ${where}`, count);
  }

  #account(life: Life): void {
    this.#count('lives');
    this.#count('requests', life.completed);
    if (life.failedIn === WcStatus.LOC_PROT_ERR) this.#count('LOC_PROT_ERR');
    if (life.failedIn === WcStatus.REM_OP_ERR) this.#count('REM_OP_ERR');
  }

  #count(what: string, count = 1): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + count;
  }

  #rest(): string {
    return [...this.#lives].map(({ rest }) => rest).join('\n');
  }
}

/** That nothing was done which may not be done while a device works. */
function checkFaults(faults: readonly string[]): void {
  check(faults.length === 0, () => faults[0]);
}

/** @throws SimulationFailure when a run proves something wrong */
export function runDeviceMemorySeed(seed: number, trace?: (line: string) => void): Figures {
  return new Run(planDeviceMemory(seed), trace).execute();
}
