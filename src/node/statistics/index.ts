import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { isOneOf, MigState, PortState, QpState, QpType } from '../../device/ibta/index.js';
import type { ShownObjects, ShownOwnQp } from '../../device/adapter/index.js';
import { isOff } from '../system/index.js';
import { VerbsError } from '../../api/verbs/index.js';

const CALL = 'read_statistics';

/**
 * The counters and the objects of all NICs that processes of this user have open, this one's among them: what Linux's
 * `rdma statistic` and `rdma resource show` show. A NIC writes them down at most four times a second while they change, so
 * they may be a quarter of a second old. Simulated devices are not among them, nor those of processes that run with VERBENA_STATS=off.
 *
 * @throws VerbsError EACCES when the directory that holds them belongs to somebody else
 */
export function readStatistics(): readonly PublishedStatistics[] {
  const directory = statisticsDirectory();
  const message = directoryProblem(directory);
  if (message !== undefined)
    throw new VerbsError(CALL, { errno: 'EACCES', message, advice: 'Remove it, or set XDG_RUNTIME_DIR' });
  return readPublished(directory).sort((a, b) => a.pid - b.pid || a.address.localeCompare(b.address));
}

/** What the NIC of a process shows of itself to other processes of the same user. */
export interface PublishedStatistics extends ShownObjects {
  /** The process. */
  readonly pid: number;
  /** The NIC's IP address. */
  readonly address: string;
  /** `verbena0`. */
  readonly device: string;
  readonly portState: PortState;
  /** As `Context.counters`. */
  readonly counters: Readonly<Record<string, number>>;
  /** How many queue pairs it has; of them, and of objects of other kinds, the first 100 are listed. */
  readonly qpCount: number;
}

/** What it shows of a queue pair: what Linux's `rdma resource show qp` prints. */
export type PublishedQp = ShownOwnQp;

/** What changes while a NIC runs. */
type Changing = Pick<PublishedStatistics, 'portState' | 'counters'> & ShownObjects;

/** Whom a file is of: a process number alone can be another's by now, or of another container. */
interface Owner {
  readonly pid: number;
  /** When the process began, in ticks since boot; undefined where the system does not tell. */
  readonly startedAt: string | undefined;
  /** Where its number counts: the PID namespace. */
  readonly namespace: string | undefined;
}

const SUFFIX = '.json';
const WAITS_SUFFIX = '.waits';
/** Threads of which a launcher tells. */
const MOST_WAITS = 200;
/** Far more than any NIC has to say; what is longer is not ours. */
const MAX_FILE_BYTES = 1 << 18;

let files = 0;
let own: Owner | undefined;

export function statisticsDirectory(): string {
  const runtime = process.env['XDG_RUNTIME_DIR'];
  if (runtime !== undefined && isAbsolute(runtime) && isOwn(runtime)) return join(runtime, 'verbena');
  return join(tmpdir(), `verbena-${process.getuid?.() ?? 'user'}`);
}

/** Why that directory cannot be trusted, as half a sentence; undefined when it can, or is not there. */
export function directoryProblem(directory: string): string | undefined {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isDirectory()) return `${directory} is no directory`;
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  if (found.uid !== uid) return `${directory} belongs to user ${found.uid}`;
  return (found.mode & 0o077) === 0 ? undefined : `others have access to ${directory}`;
}

/** A file of this process, for others of its user to read. A failed write is ignored: it must not disturb the program. */
class OwnFile {
  readonly #path: string;
  readonly #scratch: string;

  protected constructor(directory: string, suffix: string) {
    files += 1;
    // Containers that share the directory have the same numbers, each in its own namespace.
    const name = `${namespaceNumber()}-${process.pid}-${threadId}-${files}`;
    this.#path = join(directory, `${name}${suffix}`);
    this.#scratch = join(directory, `.${name}`);
  }

  /** Where it goes; undefined where there is no place for it, or the user wants none (VERBENA_STATS=off). */
  protected static directory(): string | undefined {
    if (isOff('VERBENA_STATS')) return undefined;
    const directory = statisticsDirectory();
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      if (directoryProblem(directory) !== undefined) return undefined;
      // Left behind by processes that were killed.
      if (files === 0) readPublished(directory);
      return directory;
    } catch {
      return undefined;
    }
  }

  /** A reader finds this version or the previous one, whole. */
  protected publish(report: object): void {
    try {
      // Made anew, so that nobody's link is followed.
      remove(this.#scratch);
      writeFileSync(this.#scratch, JSON.stringify({ ...owner(), ...report }), { mode: 0o600, flag: 'wx' });
      renameSync(this.#scratch, this.#path);
    } catch {
      // The directory is gone, or the disk is full: the next time, perhaps.
    }
  }

  close(): void {
    for (const path of [this.#path, this.#scratch]) remove(path);
  }
}

/** One NIC's file. */
export class StatisticsFile extends OwnFile {
  private constructor(
    directory: string,
    private readonly address: string,
    private readonly device: string,
  ) {
    super(directory, SUFFIX);
  }

  /** As {@link OwnFile.directory}. */
  static open(address: string, device: string): StatisticsFile | undefined {
    const directory = OwnFile.directory();
    return directory === undefined ? undefined : new StatisticsFile(directory, address, device);
  }

  write(changing: Changing): void {
    const { address, device } = this;
    this.publish({ address, device, ...changing });
  }
}

/** What a thread of a program under `verbena run --explain` does. */
export interface PublishedWait {
  readonly pid: number;
  readonly comm: string;
  /** `waits in ibv_get_cq_event for 6 s`. */
  readonly what: string;
  /** The state of what it waits for, and what to do. */
  readonly why: string;
}

/** One launcher's file of what its programs wait for. */
export class WaitsFile extends OwnFile {
  static open(): WaitsFile | undefined {
    const directory = OwnFile.directory();
    return directory === undefined ? undefined : new WaitsFile(directory, WAITS_SUFFIX);
  }

  write(waits: readonly PublishedWait[]): void {
    this.publish({ waits: waits.slice(0, MOST_WAITS) });
  }
}

/** What the programs under all launchers of this user wait for, with the launcher's process number. */
export function readWaits(): readonly { readonly launcher: number; readonly waits: readonly PublishedWait[] }[] {
  const directory = statisticsDirectory();
  if (directoryProblem(directory) !== undefined) return [];
  return namesIn(directory, WAITS_SUFFIX).flatMap((name) => {
    const path = join(directory, name);
    const found = readReport(path, isWaits);
    if (found === undefined || found.namespace !== owner().namespace) return [];
    if (isAlive(found)) return [{ launcher: found.pid, waits: found.waits }];
    remove(path);
    return [];
  });
}

function isWaits(report: unknown): report is Owner & { readonly waits: readonly PublishedWait[] } {
  if (typeof report !== 'object' || report === null) return false;
  const { pid, waits, startedAt, namespace }: Record<string, unknown> = { ...report };
  const shape = { pid: Number.isInteger, comm: isText, what: isText, why: isText };
  const isWait = (wait: unknown): boolean => {
    if (typeof wait !== 'object' || wait === null) return false;
    const fields: Record<string, unknown> = { ...wait };
    return Object.entries(shape).every(([name, holds]) => holds(fields[name]));
  };
  const isOwner = Number.isInteger(pid) && orAbsent(isText)(startedAt) && orAbsent(isText)(namespace);
  return isOwner && Array.isArray(waits) && waits.every(isWait);
}

/** What the NICs of all living processes of this user show. */
export function readPublished(directory: string): PublishedStatistics[] {
  dropScratch(directory);
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name);
    const found = readReport(path, isReport);
    if (found === undefined || found.namespace !== owner().namespace) return [];
    if (!isAlive(found)) {
      remove(path);
      return [];
    }
    const { startedAt, namespace, ...published } = found;
    return [{ ...published, qpCount: found.counts.qp }];
  });
}

/** Removes what was half written by processes that were killed: a scratch file lives for as long as one write. */
function dropScratch(directory: string): void {
  for (const name of allIn(directory)) {
    const writer = /^\.(\d+)-(\d+)-/.exec(name);
    if (writer === null) continue;
    const [, namespace, pid] = writer;
    if (namespace === namespaceNumber() && !exists(Number(pid))) remove(join(directory, name));
  }
}

function namesIn(directory: string, suffix = SUFFIX): string[] {
  return allIn(directory).filter((name) => name.endsWith(suffix) && !name.startsWith('.'));
}

function allIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readReport<R>(path: string, isReport: (report: unknown) => report is R): R | undefined {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) return undefined;
    const report: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isReport(report) ? report : undefined;
  } catch {
    // Gone since, or not ours.
    return undefined;
  }
}

function isReport(report: unknown): report is PublishedStatistics & Owner {
  if (typeof report !== 'object' || report === null) return false;
  const fields: Record<string, unknown> = { ...report };
  const { pid, address, device, portState, counters, counts, startedAt, namespace } = fields;
  return (
    Number.isInteger(pid) &&
    typeof address === 'string' &&
    typeof device === 'string' &&
    isAmong(PortState, portState) &&
    isCounters(counters) &&
    isCounters(counts) &&
    Object.entries(LISTS).every(([name, shape]) => isListOf(fields[name], shape)) &&
    (startedAt === undefined || typeof startedAt === 'string') &&
    (namespace === undefined || typeof namespace === 'string')
  );
}

/** How the fields of a listed object are checked. */
type Shape = Readonly<Record<string, (field: unknown) => boolean>>;

const isText = (field: unknown): boolean => typeof field === 'string';
const orAbsent =
  (is: (field: unknown) => boolean) =>
  (field: unknown): boolean =>
    field === undefined || is(field);
const OWNER: Shape = { ctx: Number.isInteger, pid: orAbsent(Number.isInteger) };
const numbers = (...names: string[]): Shape => Object.fromEntries(names.map((name) => [name, Number.isInteger]));

const LISTS: Readonly<Record<Exclude<keyof ShownObjects, 'counts'>, Shape>> = {
  qps: {
    ...numbers('qpn', 'destQpn', 'rqPsn', 'sqPsn', 'pd'),
    type: (field) => isAmong(QpType, field),
    state: (field) => isAmong(QpState, field),
    pathMigState: (field) => isAmong(MigState, field),
    counters: isCounters,
  },
  pds: numbers('pd', 'users'),
  mrs: { ...numbers('handle', 'pd', 'lkey', 'rkey', 'lengthBytes'), iova: isText },
  cqs: numbers('cqn', 'cqe', 'users'),
  srqs: {
    ...numbers('srqn', 'pd'),
    isXrc: (field) => typeof field === 'boolean',
    qpns: (field) => Array.isArray(field) && field.every(Number.isInteger),
    cqn: orAbsent(Number.isInteger),
  },
  cmIds: {
    ...numbers('id', 'portSpace'),
    state: isText,
    qpn: orAbsent(Number.isInteger),
    source: orAbsent(isText),
    destination: orAbsent(isText),
  },
  contexts: {},
};

function isListOf(found: unknown, shape: Shape): boolean {
  const rules = Object.entries({ ...OWNER, ...shape });
  const isObject = (each: unknown): boolean => {
    if (typeof each !== 'object' || each === null) return false;
    const fields: Record<string, unknown> = { ...each };
    return rules.every(([name, holds]) => holds(fields[name]));
  };
  return Array.isArray(found) && found.every(isObject);
}

function isCounters(found: unknown): boolean {
  return (
    typeof found === 'object' && found !== null && Object.values(found).every((count) => typeof count === 'number')
  );
}

function isAmong(constants: Readonly<Record<string, number>>, found: unknown): boolean {
  return typeof found === 'number' && isOneOf(constants, found);
}

function owner(): Owner {
  own ??= { pid: process.pid, startedAt: startOf(process.pid), namespace: pidNamespace() };
  return own;
}

function isAlive({ pid, startedAt }: Owner): boolean {
  return exists(pid) && (startedAt === undefined || startOf(pid) === startedAt);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Field 22 of /proc/PID/stat; the name before it, in parentheses, may hold anything. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** 0 where the system does not tell. */
function namespaceNumber(): string {
  return /\d+/.exec(owner().namespace ?? '')?.[0] ?? '0';
}

/** Whether nobody else can put anything there: as the XDG specification demands of the runtime directory. */
function isOwn(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true || (found.mode & 0o022) !== 0) return false;
  const uid = process.getuid?.();
  return uid === undefined || found.uid === uid;
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Somebody else was quicker, or may not let us.
  }
}
