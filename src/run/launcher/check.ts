import { readFileSync } from 'node:fs';
import { hasUserNotification, nativeHostProblem } from '../../node/system/index.js';
import { thisMachine } from './system-calls.js';

const YAMA = '/proc/sys/kernel/yama/ptrace_scope';

/** Yama's scope, 0 where there is none. */
function yamaScope(): number {
  try {
    return Number(readFileSync(YAMA, 'utf8'));
  } catch {
    return 0;
  }
}

interface Requirement {
  readonly what: string;
  /** Why it is not met, and the remedy: a sentence. Undefined where it is met. */
  readonly problem: () => string | undefined;
}

/** What this machine must have, in the order in which it is looked at. */
const REQUIREMENTS: readonly Requirement[] = [
  {
    what: 'system calls',
    problem: () => {
      const why = nativeHostProblem();
      return why === undefined ? undefined : `no system calls can be made: ${why}`;
    },
  },
  {
    what: 'processor',
    problem: () =>
      thisMachine() === undefined
        ? `the system calls of ${process.arch} are not known: verbena run is for x86-64 and arm64`
        : undefined,
  },
  {
    what: 'seccomp',
    problem: () =>
      hasUserNotification()
        ? undefined
        : 'the kernel cannot pass system calls on to us (seccomp user notification): Linux 5.9 or newer can, unless a container forbids the call seccomp; Docker allows it by default, gVisor has none',
  },
  {
    what: 'memory of programs',
    problem: () =>
      yamaScope() >= 2
        ? `memory of programs cannot be read, since Yama's ptrace_scope is ${yamaScope()}: 'sysctl kernel.yama.ptrace_scope=1', as root, allows it to a program's parent`
        : undefined,
  },
];

/** What of each requirement is to be said. */
export function checkMachine(): readonly { readonly what: string; readonly problem: string | undefined }[] {
  const told: { what: string; problem: string | undefined }[] = [];
  for (const { what, problem } of REQUIREMENTS) {
    const why = problem();
    told.push({ what, problem: why });
    // Without system calls the others cannot be looked at.
    if (why !== undefined && told.length === 1) break;
  }
  return told;
}

/** Why programs cannot be run here: a sentence, or undefined. */
export function machineProblem(): string | undefined {
  return checkMachine().find(({ problem }) => problem !== undefined)?.problem;
}

export function filterProblem(errno: string): string {
  if (errno === 'EBUSY')
    return 'the calls of this process already go to somebody else (a seccomp listener, as in LXD or Incus), and there can be one only: start it outside of that';
  return `the filter was refused (${errno}): 'verbena run --check' tells what this machine lacks`;
}
