import { Errno } from '../../device/ibta/index.js';
import type { NotifiedCalls } from '../../node/system/index.js';
import { isWithin } from '../launcher/descriptor-ranges.js';
import type { DescriptorRanges } from '../launcher/descriptor-ranges.js';
import { type Machine, SYSTEM_CALLS, type SystemCall } from '../launcher/system-calls.js';
import type { GuestFiles } from '../processes/guest-files.js';
import { errnoOf } from '../refusal.js';
import type { InterruptedCalls } from './interrupted-calls.js';
import { type PathArgument, PATH_CALLS } from '../sysfs/path-call-table.js';
import type { PathCalls } from '../sysfs/path-calls.js';

type Handler = (calls: NotifiedCalls) => void;

/** Where calls go that have come to us. */
export interface Destinations {
  readonly calls: NotifiedCalls;
  readonly files: Pick<GuestFiles, 'find' | 'closing' | 'executing' | 'sweepSoon'>;
  readonly paths: PathCalls;
  readonly ranges: DescriptorRanges;
  readonly interrupted: Pick<InterruptedCalls, 'received' | 'returning'>;
}

/** What is done about each call. */
function handlers({ files, paths, ranges, interrupted }: Destinations): Readonly<Partial<Record<SystemCall, Handler>>> {
  const onFile = (act: 'ioctl' | 'write') => (calls: NotifiedCalls) => {
    const file = files.find(calls.tid, calls.int(0));
    if (file === undefined) calls.letThrough();
    else file[act](calls);
  };
  const displacing = (calls: NotifiedCalls): void => {
    paths.closing(calls.tid, calls.int(1));
    calls.letThrough();
    files.sweepSoon();
  };
  const executing = (program: PathArgument) => (calls: NotifiedCalls) => {
    if (paths.refusesToExecute(calls, program)) return;
    files.executing(calls.tid);
    calls.letThrough();
  };
  const byPath = Object.entries(PATH_CALLS).map(
    ([name, call]) => [name, (calls: NotifiedCalls) => paths.serve(calls, call)] as const,
  );
  return {
    ...Object.fromEntries(byPath),
    ioctl: onFile('ioctl'),
    write: onFile('write'),
    fstat: (calls) => paths.serveFstat(calls),
    getdents64: (calls) => paths.serveEntries(calls),
    chdir: (calls) => paths.serveChdir(calls),
    fchdir: (calls) => paths.serveFchdir(calls),
    getcwd: (calls) => paths.serveGetcwd(calls),
    close: (calls) => {
      const [tid, fd] = [calls.tid, calls.int(0)];
      // While the number still says what it is. What ends with it has ended when the program goes on, as in the kernel.
      if (isWithin(ranges.directories, fd)) paths.closing(tid, fd);
      else files.closing(tid, fd);
      calls.letThrough();
    },
    dup2: displacing,
    dup3: displacing,
    execve: executing({ path: 0 }),
    execveat: executing({ directory: 0, path: 1 }),
    rt_sigreturn: (calls) => {
      try {
        interrupted.returning(calls);
      } finally {
        calls.letThrough();
      }
    },
    close_range: (calls) => {
      calls.letThrough();
      files.sweepSoon();
    },
  };
}

/** Hands each call to who answers it. */
export class Dispatch {
  readonly #handlers = new Map<number, Handler>();

  constructor(
    machine: Machine,
    private readonly destinations: Destinations,
  ) {
    for (const [name, handler] of Object.entries(handlers(destinations))) {
      // The keys of the table above.
      this.#handlers.set(SYSTEM_CALLS[name as SystemCall][machine], handler);
    }
  }

  /** Takes the call that waits, and answers it. */
  serve(): void {
    const { calls, interrupted } = this.destinations;
    if (!calls.receive()) return;
    interrupted.received(calls);
    const handler = this.#handlers.get(calls.number);
    if (handler === undefined) {
      calls.letThrough();
      return;
    }
    try {
      handler(calls);
    } catch (error) {
      const errno = errnoOf(error);
      // A mistake of ours is told as one, and ends nobody but perhaps the program that has met it.
      if (errno === undefined) process.emitWarning(error instanceof Error ? error : String(error));
      calls.refuse(errno ?? Errno.EIO);
    }
  }
}
