import { BpfProgram, SeccompData, Verdict } from '../../node/system/index.js';
import { PATH_CALLS } from '../sysfs/path-call-table.js';
import type { DescriptorRange, DescriptorRanges } from './descriptor-ranges.js';
import { type Machine, SYSTEM_CALLS, type SystemCall } from './system-calls.js';

const AF_NETLINK = 16;
const NETLINK_RDMA = 20;
const EPROTONOSUPPORT = 93;
/** `_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_uverbs_ioctl_hdr)`. */
const RDMA_VERBS_IOCTL = 0xc0181b01;
/** On x86-64, calls of the 32-bit pointers' kind have this bit in their number: they are not ours. */
const X32_BIT = 0x40000000;

/** How a doorbell of a program comes to us. */
export type DoorbellWay =
  /** The program waits until the NIC has taken what it posted: the NIC has the program's processor meanwhile. */
  | 'call'
  /** The kernel appends it to a log that the NIC looks at. */
  | 'log';

type Condition =
  | { readonly argument: number; readonly equals: number }
  | { readonly argument: number; readonly within: DescriptorRange };

/** One line of the filter: where a call comes to us, or fails at once. Everything else goes to the kernel. */
export interface FilterRule {
  readonly call: SystemCall;
  readonly when?: readonly Condition[];
  /** Default: NOTIFY. */
  readonly verdict?: number;
}

/** Calls that name a file by its path, which a filter cannot read. */
const BY_PATH = Object.keys(PATH_CALLS).filter((name): name is keyof typeof PATH_CALLS => name in PATH_CALLS);

/** The table that the filter is made from; the first line that fits counts. */
export function filterRules(ranges: DescriptorRanges, doorbells: DoorbellWay): readonly FilterRule[] {
  const fd = (within: DescriptorRange): readonly Condition[] => [{ argument: 0, within }];
  const { uverbs, rdmaCm, moreRdmaCm, directories } = ranges;
  const channels = [rdmaCm, moreRdmaCm].filter(({ first, end }) => end > first);
  const all = [uverbs, ...channels, directories];
  return [
    ...(doorbells === 'call' ? [{ call: 'write', when: fd(uverbs) } as const] : []),
    ...channels.map((range) => ({ call: 'write', when: fd(range) }) as const),
    { call: 'ioctl', when: [{ argument: 1, equals: RDMA_VERBS_IOCTL }] },
    ...BY_PATH.map((call) => ({ call })),
    ...all.map((range) => ({ call: 'close', when: fd(range) }) as const),
    ...all.map((range) => ({ call: 'fstat', when: fd(range) }) as const),
    // Programs copy descriptors of folders, to anywhere.
    { call: 'getdents64' },
    { call: 'close_range' },
    // The kernel does not have the directories of ours that a program may be in.
    ...(['chdir', 'fchdir', 'getcwd'] as const).map((call) => ({ call })),
    // A descriptor that is put in the place of one of ours closes that.
    ...(['dup2', 'dup3'] as const).flatMap((call) => all.map((within) => ({ call, when: [{ argument: 1, within }] }))),
    // The memory of what runs then is not that of what has registered any.
    { call: 'execve' },
    { call: 'execveat' },
    // A handler has returned: the call that its signal interrupted may have to be restarted.
    { call: 'rt_sigreturn' },
    // Where the host has RDMA itself, libibverbs would take its empty answer for the truth, and never look at sysfs.
    {
      call: 'socket',
      when: [
        { argument: 0, equals: AF_NETLINK },
        { argument: 2, equals: NETLINK_RDMA },
      ],
      verdict: Verdict.ERRNO + EPROTONOSUPPORT,
    },
  ];
}

/** Whether a rule has a call wait for an answer of ours. @param args its arguments, as unsigned numbers */
export function isNotified(rules: readonly FilterRule[], call: SystemCall, args: readonly number[]): boolean {
  return rules.some(
    (rule) =>
      rule.call === call &&
      rule.verdict === undefined &&
      (rule.when ?? []).every((condition) => {
        const low = (args[condition.argument] ?? 0) % 2 ** 32;
        return 'equals' in condition
          ? low === condition.equals
          : low >= condition.within.first && low < condition.within.end;
      }),
  );
}

/** The filter, for programs of this machine alone: others see what is there. */
export function assembleFilter(rules: readonly FilterRule[], machine: Machine, audit: number): Uint8Array {
  const program = new BpfProgram();
  program.load(SeccompData.ARCH).ifEqual(audit, { yes: 'native' }).give(Verdict.ALLOW).label('native');
  program.load(SeccompData.NUMBER);
  if (machine === 'x64') program.ifAnyBit(X32_BIT, { no: 'ours' }).give(Verdict.ALLOW).label('ours');
  rules.forEach(({ call, when = [], verdict = Verdict.NOTIFY }, at) => {
    const number = SYSTEM_CALLS[call][machine];
    if (number < 0) return;
    const next = `after ${at}`;
    program.ifEqual(number, { no: next });
    for (const condition of when) addCondition(program, condition, next);
    program.give(verdict).label(next);
    // A condition has loaded something else.
    if (when.length > 0) program.load(SeccompData.NUMBER);
  });
  return program.give(Verdict.ALLOW).build();
}

function addCondition(program: BpfProgram, condition: Condition, next: string): void {
  program.load(SeccompData.ARGUMENTS + 8 * condition.argument);
  if ('equals' in condition) program.ifEqual(condition.equals, { no: next });
  else program.ifAtLeast(condition.within.first, { no: next }).ifAtLeast(condition.within.end, { yes: next });
}
