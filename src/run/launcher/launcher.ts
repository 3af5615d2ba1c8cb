import { auditArch, EventFd, NotifiedCalls } from '../../node/system/index.js';
import { Errno } from '../../device/ibta/index.js';
import type { GuestDevice } from './guest-devices.js';
import { Dispatch } from '../notifications/dispatch.js';
import { InterruptedCalls } from '../notifications/interrupted-calls.js';
import { GuestFiles } from '../processes/guest-files.js';
import { Processes } from '../processes/processes.js';
import { deviceTree } from '../sysfs/device-tree.js';
import { PathCalls } from '../sysfs/path-calls.js';
import { StandInDirectories } from '../sysfs/stand-in-directories.js';
import type { FailureReport } from '../reports/failure-report.js';
import type { DeviceNode, Node, Roots } from '../sysfs/tree.js';
import { Ucma } from '../ucma/ucma.js';
import { HangReport, sentenceOf } from '../reports/hang-report.js';
import { WaitsFile } from '../../node/statistics/index.js';
import { errnoOf } from '../refusal.js';
import { descriptorLimit, type DescriptorRanges, descriptorRanges } from './descriptor-ranges.js';
import { openDeviceFile, type OpenedDevice } from './device-files.js';
import { assembleFilter, type DoorbellWay, type FilterRule, filterRules } from './filter.js';
import { NicLoop, type Opened } from './nic-loop.js';
import { Descendants } from './descendants.js';
import { Overdue } from './overdue.js';
import { type ProgramEnd, startProgram } from './program.js';
import type { ProgramThread } from './program-thread.js';
import type { Machine } from './system-calls.js';
import { isatty } from 'node:tty';

const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
const TELLING = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const;
/** What a terminal sends to all that run in it: the program has it already. */
const FROM_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH'];

/**
 * Hands signals on to the program, and ends with it rather than before.
 *
 * @param onEnding called at each signal that is to end it
 */
function forwardSignals(descendants: Descendants, onEnding: (signal: NodeJS.Signals) => void): void {
  // Node makes a stream that it is asked for non-blocking, and so it would be for the program.
  const inTerminal = [0, 1, 2].some((fd) => isatty(fd));
  const hasIt = (signal: NodeJS.Signals): boolean =>
    inTerminal && FROM_TERMINAL.includes(signal) && descendants.hasProgram;
  const handOn = (signal: NodeJS.Signals): boolean => hasIt(signal) || descendants.tellProgram(signal);
  for (const signal of TELLING) process.on(signal, handOn);
  for (const signal of ENDING) {
    process.on(signal, () => {
      onEnding(signal);
      if (!handOn(signal)) descendants.endOthers();
    });
  }
}

export interface LaunchOptions {
  readonly machine: Machine;
  readonly thread: ProgramThread;
  readonly devices: readonly GuestDevice[];
  readonly doorbells: DoorbellWay;
  /** Who tells of requests that failed, if anybody does. */
  readonly failures?: FailureReport | undefined;
  readonly say: (sentence: string) => void;
  readonly words: readonly string[];
}

/** How often it is looked what programs wait for, ms. */
const LOOK_MS = 1000;
/** How long a sleep may last where nothing is to be looked for, and where there is, µs. */
const PATIENCE_US = 50_000;
const SHORT_PATIENCE_US = 1000;

/** A program that runs, and all that stands between it and the NICs. */
export class Launcher {
  readonly #options: LaunchOptions;
  readonly #wake = new EventFd();
  readonly #processes = new Processes();
  readonly #files = new GuestFiles<OpenedDevice>(this.#processes, (file) => {
    this.#always.delete(file);
    this.#due.delete(file);
  });
  /** Opened devices that each round visits. */
  readonly #always = new Set<OpenedDevice>();
  /** Opened devices that have asked to be visited. */
  readonly #due = new Set<OpenedDevice>();
  readonly #ranges: DescriptorRanges;
  readonly #rules: readonly FilterRule[];
  readonly #roots: Roots;
  readonly #standIns: StandInDirectories;
  readonly #ucma: Ucma;
  readonly #descendants = new Descendants();
  readonly #overdue: Overdue;
  /** Where other processes of the user find what programs wait for. */
  #waits: WaitsFile | undefined;
  #calls: NotifiedCalls | undefined;
  #loop: NicLoop | undefined;

  /** @param onEnd called once, when the program and all that it has started have ended */
  constructor(
    options: LaunchOptions,
    private readonly onEnd: (end: ProgramEnd) => void,
  ) {
    const { machine, thread, devices, doorbells, words } = options;
    this.#options = options;
    this.#ranges = descriptorRanges(descriptorLimit());
    this.#ucma = new Ucma(
      devices.map(({ context }) => context),
      options.say,
    );
    this.#roots = deviceTree(devices);
    this.#standIns = new StandInDirectories(directoriesOf(this.#roots));
    this.#rules = filterRules(this.#ranges, doorbells);
    const filter = assembleFilter(this.#rules, machine, auditArch() ?? 0);
    this.#overdue = new Overdue(() => this.#descendants.names(), options.say);
    // Who ends from now on leaves a program behind, whose calls nobody answers.
    const hangs = this.#watchHangs();
    forwardSignals(this.#descendants, (signal) => {
      hangs?.tellAll();
      this.#overdue.onSignal(signal);
    });
    startProgram(thread, filter, this.#wake.fd, words, {
      onFiltered: (listenerFd) => this.#serve(listenerFd),
      onStarted: (pid) => this.#begin(pid),
      onFailed: (end) => void this.#finish(end),
    });
  }

  /** Where people want to know why programs fail, also why they wait. */
  #watchHangs(): HangReport | undefined {
    const { failures, machine } = this.#options;
    if (failures === undefined) return undefined;
    const hangs = new HangReport(
      machine,
      () => this.#files,
      (pid, what, why) => failures.tell(pid, what, why),
    );
    const file = WaitsFile.open();
    this.#waits = file;
    const look = (): void => {
      const waits = hangs.look().map((finding) => {
        const [what, why] = sentenceOf(finding);
        return { pid: finding.pid, comm: finding.comm, what, why };
      });
      file?.write(waits);
    };
    setInterval(look, LOOK_MS).unref();
    return hangs;
  }

  #serve(listenerFd: number): void {
    const { machine } = this.#options;
    const calls = new NotifiedCalls(listenerFd);
    const paths = new PathCalls({
      machine,
      roots: this.#roots,
      standIns: this.#standIns,
      directories: this.#ranges.directories,
      deviceOf: (tid, fd) => this.#files.find(tid, fd)?.device,
      processOf: (tid) => this.#processes.processOf(tid),
      openDevice: (waiting, node) => this.#openDevice(waiting, node),
    });
    const files = this.#files;
    const interrupted = new InterruptedCalls(machine, this.#rules, files);
    const dispatch = new Dispatch(machine, { calls, files, paths, ranges: this.#ranges, interrupted });
    this.#calls = calls;
    this.#loop = new NicLoop(calls, dispatch, this.#processes, this.#openedDevices(), this.#wake);
  }

  #openedDevices(): Opened {
    const files = this.#files;
    const some = (act: (file: OpenedDevice) => boolean): boolean => {
      let found = false;
      for (const file of this.#always) if (act(file)) found = true;
      return found;
    };
    return {
      pull: () => some((file) => file.pull()),
      push: () => {
        const pumped = this.#ucma.pump();
        const pushed = some((file) => file.push());
        return this.#visitDue() || pumped || pushed;
      },
      patienceUs: () =>
        this.#hasLog || this.#due.size > 0 || some((file) => file.needsLook) ? SHORT_PATIENCE_US : PATIENCE_US,
      sweep: () => files.sweep(),
    };
  }

  #visitDue(): boolean {
    if (this.#due.size === 0) return false;
    let found = false;
    for (const file of [...this.#due]) {
      this.#due.delete(file);
      if (file.push()) found = true;
      if (file.needsLook) this.#due.add(file);
    }
    return found;
  }

  get #hasLog(): boolean {
    return this.#options.doorbells === 'log' && this.#files.size > 0;
  }

  #openDevice(calls: NotifiedCalls, node: DeviceNode): boolean {
    const pid = this.#processes.processOf(calls.tid);
    const { devices, failures } = this.#options;
    try {
      const opening = {
        node,
        pid,
        devices,
        failures,
        ucma: this.#ucma,
        calls,
        fileAt: (tid: number, fd: number) => this.#files.find(tid, fd),
        due: (file: OpenedDevice) => void this.#due.add(file),
        onPosted: () => this.#loop?.settle(),
        letGo: () => this.#loop?.letGo(),
      };
      const { file, ranges } = openDeviceFile(opening, this.#ranges);
      let isGiven = false;
      try {
        isGiven = this.#files.give(calls, file, ranges);
      } finally {
        if (!isGiven) {
          this.#due.delete(file);
          file.close();
        }
      }
      if (!isGiven) return calls.refuse(Errno.EMFILE);
      if (file.isVisitedAlways) this.#always.add(file);
      return true;
    } catch (error) {
      return calls.refuse(errnoOf(error) ?? Errno.EIO);
    }
  }

  #begin(pid: number): void {
    // Another thread may take the signal that tells of its end, which does not wake this one.
    this.#processes.watch(pid, () => this.#descendants.wait());
    this.#descendants.begin(pid, (end) => void this.#finish(end));
  }

  async #finish(end: ProgramEnd): Promise<void> {
    // What it has started may go on, and needs its calls answered.
    this.#overdue.onProgramEnd();
    await Promise.race([this.#loop?.abandoned, this.#descendants.noneLeft]);
    this.#overdue.stop();
    this.#waits?.close();
    this.#loop?.stop();
    this.#files.closeAll();
    this.#calls?.close();
    this.#standIns.close();
    this.#wake.close();
    this.onEnd(end);
  }
}

function directoriesOf(roots: Roots): readonly string[] {
  const paths: string[] = [];
  const walk = (path: string, node: Node): void => {
    if (node.kind !== 'directory') return;
    paths.push(path);
    for (const [name, below] of node.entries) walk(`${path}/${name}`, below);
  };
  for (const [path, node] of roots) walk(path, node);
  return paths;
}
