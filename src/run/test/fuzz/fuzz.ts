import { readdirSync } from 'node:fs';
import { descriptorName } from '../../processes/processes.js';
import { FailureReport } from '../../reports/failure-report.js';
import { RdmaCmFile } from '../../ucma/rdma-cm-file.js';
import { Ucma } from '../../ucma/ucma.js';
import { UverbsFile } from '../../uverbs/uverbs-file.js';
import type { DeviceNode } from '../../sysfs/tree.js';
import { type Context, openDevice } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { Choices } from '../../../../test/fuzz/random.js';
import { holdingsOf } from '../../../../test/support/holdings.js';
import { Bystander } from './bystander.js';
import { CmProgram } from './cm-program.js';
import { FakeCalls } from './fake-calls.js';
import { FuzzMemory } from './memory.js';
import type { FuzzRegion } from './rings.js';
import { UverbsProgram } from './uverbs-program.js';

const ADDRESSES = ['10.0.0.1', '10.0.0.2'];
/** Rounds of the NICs between two commands. */
const ROUNDS = 8;
const CHECK_INTERVAL = 200;
/** Commands of a program: then it is gone, and another comes. */
const LIFE = 3000;
const FOR_GOOD_US = 3_600_000_000;
const PORTS = 4;

const NODE: Omit<DeviceNode, 'driver' | 'index'> = { kind: 'device', major: 231, minor: 192 };

interface Life {
  step(): void;
  close(): void;
}

export interface CommandFigures {
  commands: number;
  lives: number;
}

/** Programs that give commands to two NICs by turns, right and wrong ones, beside one that means well. */
export class CommandFuzz {
  readonly figures: CommandFigures = { commands: 0, lives: 0 };
  readonly #choices: Choices;
  readonly #cluster: SimulatedCluster;
  readonly #nics: readonly Context[];
  readonly #before: readonly object[];
  readonly #descriptors: readonly string[];
  readonly #memory = new FuzzMemory();
  readonly #calls = new FakeCalls();
  readonly #ucma: Ucma;
  readonly #bystander: Bystander;
  readonly #known;
  /** How many completions of each status programs have polled. */
  readonly statuses = new Map<number, number>();
  #uverbs: UverbsProgram[] = [];
  #cms: CmProgram[] = [];

  constructor(seed: number) {
    this.#choices = new Choices(seed);
    this.#cluster = new SimulatedCluster({ seed });
    this.#nics = ADDRESSES.map((address) => this.#cluster.open(address));
    this.#before = this.#nics.map(holdingsOf);
    this.#descriptors = openDescriptors();
    this.#ucma = new Ucma(this.#nics);
    this.#bystander = new Bystander(this.#nics[0], this.#nics[1]);
    this.#known = {
      keys: [] as number[],
      regions: [] as FuzzRegion[],
      qps: [] as number[],
      ids: [] as number[],
      completions: this.statuses,
      ports: PORTS,
      gids: this.#nics.map((nic) => nic.queryGid(1, 0)),
    };
  }

  get calls(): { readonly answered: number; readonly refused: number } {
    return this.#calls;
  }

  get done(): number {
    return this.figures.commands;
  }

  /** @throws Error when something is wrong */
  run(commands: number): void {
    // What is told as a warning there is a mistake of ours.
    const before = Object.getOwnPropertyDescriptor(process, 'emitWarning') ?? {};
    process.emitWarning = (warning: string | Error) => {
      throw warning instanceof Error ? warning : new Error(warning);
    };
    try {
      for (let i = 0; i < commands; i += 1) this.#step();
    } finally {
      Object.defineProperty(process, 'emitWarning', before);
    }
  }

  /** Ends all programs. @throws Error when anything is left of them */
  end(): void {
    this.#endPrograms();
    this.#bystander.close();
    this.#cluster.run(this.#cluster.nowUs + FOR_GOOD_US);
    this.#memory.check();
    this.#memory.release();
    const left = JSON.stringify(this.#nics.map(holdingsOf));
    if (left !== JSON.stringify(this.#before))
      throw new Error(`left behind: ${left}, before there were ${JSON.stringify(this.#before)}`);
    const descriptors = openDescriptors().filter((name) => !this.#descriptors.includes(name));
    if (descriptors.length > 0) throw new Error(`left behind: ${descriptors.join(', ')}`);
    for (const nic of this.#nics) nic.close();
  }

  #step(): void {
    const { figures } = this;
    if (figures.commands % LIFE === 0) this.#newPrograms();
    figures.commands += 1;
    const program: Life = this.#choices.chance(80) ? this.#choices.of(this.#uverbs) : this.#choices.of(this.#cms);
    program.step();
    this.#settle();
    this.#calls.takeEndings();
    if (figures.commands % CHECK_INTERVAL !== 0) return;
    this.#memory.check();
    this.#bystander.live();
  }

  #settle(): void {
    const files = [...this.#uverbs, ...this.#cms].map(({ file }) => file);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const file of files) file.pull();
      this.#cluster.step();
      for (const file of files) file.push();
    }
  }

  #newPrograms(): void {
    this.#endPrograms();
    this.figures.lives += 1;
    const { keys, regions, qps, ids } = this.#known;
    for (const list of [keys, regions, qps, ids]) list.length = 0;
    const devices = this.#nics.map((context, index) => ({
      name: `rxe${index}`,
      address: ADDRESSES[index],
      interfaceName: 'lo',
      context,
      openClient: () => openDevice({ device: context.share() }),
    }));
    // What is said nobody hears, but it is made.
    const failures = new FailureReport(() => undefined);
    const calls = this.#calls;
    const parts = [calls, this.#memory, this.#choices, this.#known] as const;
    this.#uverbs = [0, 1, 0].map((index) => {
      const node: DeviceNode = { ...NODE, driver: 'uverbs', index };
      return new UverbsProgram(
        new UverbsFile({
          node,
          pid: process.pid,
          devices,
          failures,
          onPosted: () => this.#settle(),
          letGo: () => undefined,
        }),
        ...parts,
        this.#known.gids[index],
      );
    });
    this.#cms = [0, 1].map(() => {
      const node: DeviceNode = { ...NODE, driver: 'rdma_cm', index: 0 };
      const fileAt = (_: number, fd: number) => this.#cms.find(({ file }) => file.fd === fd)?.file;
      return new CmProgram(
        new RdmaCmFile({ node, pid: process.pid, ucma: this.#ucma, calls, fileAt, due: () => undefined }),
        ...parts,
      );
    });
  }

  #endPrograms(): void {
    for (const program of [...this.#uverbs, ...this.#cms]) program.close();
    this.#uverbs = [];
    this.#cms = [];
    this.#calls.closeAll();
  }
}

/** What the kernel calls the files that this process has open; those of a name that comes again are new. */
function openDescriptors(): readonly string[] {
  return readdirSync('/proc/self/fd').map((fd) => `${fd} ${descriptorName(process.pid, Number(fd)) ?? ''}`);
}
