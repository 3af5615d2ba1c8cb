/** A network, and a file system that is full, for one lane: namespaces that nobody else is in, and that end with the run. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Bytes of the file system in it. */
const DISK = '256k';
const DEVICE = 'soak0';
/** Each by itself: with the first address of a net the kernel removes all others of it. */
const NET_BITS = 32;

export const NAMESPACE_SERVER = '10.74.0.1';
export const NAMESPACE_CLIENT = '10.74.0.2';

/** Why there can be none, as half a sentence, or undefined. */
export function namespaceProblem(): string | undefined {
  const probe = `ip link add ${DEVICE} type veth peer name ${DEVICE}b && mount -t tmpfs none /mnt`;
  const { error, status, stderr } = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', probe], { encoding: 'utf8' });
  if (error !== undefined) return 'there is no unshare (util-linux)';
  return status === 0 ? undefined : `namespaces cannot be made here (${stderr.trim().split('\n')[0]})`;
}

/** Why a program cannot run under a clock of its own, as half a sentence, or undefined. */
export function clockProblem(): string | undefined {
  const { error, status, stderr } = spawnSync('unshare', [...CLOCK_NAMESPACE, 'true'], { encoding: 'utf8' });
  if (error !== undefined) return 'there is no unshare (util-linux)';
  return status === 0 ? undefined : `time namespaces cannot be made here (${stderr.trim().split('\n')[0]})`;
}

const NAMESPACES = ['--user', '--map-root-user', '--net', '--mount'];
/** The kernel forbids to turn the monotonic clock back behind its beginning: on by a hundred days. */
const CLOCK_NAMESPACE = [
  '--user',
  '--map-root-user',
  '--time',
  '--monotonic',
  '8640000',
  '--boottime',
  '8640000',
  '--fork',
];

/** Runs a program under monotonic clocks that are a hundred days ahead. It ends when its parent is killed. */
export const UNDER_ANOTHER_CLOCK = ['unshare', ...CLOCK_NAMESPACE, '--kill-child'];

export class Namespaces {
  private constructor(
    private readonly holder: ChildProcess,
    private readonly ended: Promise<unknown>,
    /** A folder that holds no more than a few hundred kilobytes, for those inside. */
    readonly disk: string,
  ) {}

  static async make(folder: string): Promise<Namespaces> {
    const address = (ip: string): string => `ip addr add ${ip}/${NET_BITS} dev ${DEVICE}`;
    const script = [
      'ip link set lo up',
      `ip link add ${DEVICE} type veth peer name ${DEVICE}b`,
      `ip link set ${DEVICE}b up`,
      `ip link set ${DEVICE} up`,
      address(NAMESPACE_SERVER),
      address(NAMESPACE_CLIENT),
      `mkdir -p ${folder}`,
      `mount -t tmpfs -o size=${DISK},mode=0700 none ${folder}`,
      'echo made',
      // Until the run ends, however it ends.
      'exec cat',
    ].join(' && ');
    const command = [...NAMESPACES, 'sh', '-c', script];
    // In a group of its own, since a Ctrl-C is the supervisor's to answer.
    const holder = spawn('unshare', command, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    const ended = once(holder, 'exit');
    const made = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
    if (!made) throw new Error('the namespaces could not be made');
    return new Namespaces(holder, ended, folder);
  }

  /** What a command line begins with, to run inside. */
  get prefix(): string[] {
    return ['nsenter', '--target', String(this.holder.pid), '--user', '--preserve-credentials', '--net', '--mount'];
  }

  address(verb: 'add' | 'del', ip: string): void {
    const [command, ...rest] = [...this.prefix, 'ip', 'addr', verb, `${ip}/${NET_BITS}`, 'dev', DEVICE];
    execFileSync(command, rest);
  }

  async close(): Promise<void> {
    this.holder.stdin?.end();
    await this.ended;
  }
}
