/**
 * What Docker's default seccomp profile denies a container that has no capabilities (moby's profiles/seccomp/default_linux.go,
 * and io_uring, which it denies since version 25), as a filter: the calls that it leaves out, and the arguments that it refuses.
 * It lets process_vm_readv(2) and process_vm_writev(2) pass on Linux 4.8 and newer. x86-64 only.
 */
import { BpfProgram } from '../../src/node/system/seccomp/bpf.js';
import { SeccompData, Verdict } from '../../src/node/system/seccomp/seccomp.js';

const AUDIT_ARCH_X86_64 = 0xc000003e;
const [EPERM, ENOSYS] = [1, 38];

/** By the numbers of x86-64. */
export const DENIED: Readonly<Record<string, number>> = {
  acct: 163,
  add_key: 248,
  bpf: 321,
  chroot: 161,
  clock_settime: 227,
  delete_module: 176,
  fanotify_init: 300,
  finit_module: 313,
  fsconfig: 431,
  fsmount: 432,
  fsopen: 430,
  fspick: 433,
  get_mempolicy: 239,
  init_module: 175,
  io_uring_enter: 426,
  io_uring_register: 427,
  io_uring_setup: 425,
  ioperm: 173,
  iopl: 172,
  kcmp: 312,
  kexec_file_load: 320,
  kexec_load: 246,
  keyctl: 250,
  lookup_dcookie: 212,
  mbind: 237,
  migrate_pages: 256,
  mount: 165,
  mount_setattr: 442,
  move_mount: 429,
  move_pages: 279,
  nfsservctl: 180,
  open_by_handle_at: 304,
  open_tree: 428,
  perf_event_open: 298,
  pidfd_getfd: 438,
  pivot_root: 155,
  process_madvise: 440,
  quotactl: 179,
  quotactl_fd: 443,
  reboot: 169,
  request_key: 249,
  set_mempolicy: 238,
  set_mempolicy_home_node: 450,
  setdomainname: 171,
  sethostname: 170,
  setns: 308,
  settimeofday: 164,
  swapoff: 168,
  swapon: 167,
  sysfs: 139,
  syslog: 103,
  umount2: 166,
  unshare: 272,
  uselib: 134,
  userfaultfd: 323,
  ustat: 136,
  vhangup: 153,
};

const [CLONE, CLONE3, SOCKET, PERSONALITY] = [56, 435, 41, 135];
const NAMESPACES = 0x7e020000;
const [AF_ALG, AF_VSOCK] = [38, 40];
/** Of personality(2), what is allowed. */
const PERSONALITIES = [0, 8, 0x20000, 0x20008, 0xffffffff];

export function dockerProfile(): Uint8Array {
  const program = new BpfProgram().load(SeccompData.ARCH).ifEqual(AUDIT_ARCH_X86_64, { no: 'denied' });
  program.load(SeccompData.NUMBER);
  for (const number of Object.values(DENIED)) program.ifEqual(number, { yes: 'denied' });
  program.ifEqual(CLONE3, { yes: 'absent' });
  program
    .ifEqual(CLONE, { yes: 'clone' })
    .ifEqual(SOCKET, { yes: 'socket' })
    .ifEqual(PERSONALITY, { yes: 'personality' });
  program.give(Verdict.ALLOW);
  program.label('clone').load(SeccompData.ARGUMENTS).ifAnyBit(NAMESPACES, { yes: 'denied', no: 'allowed' });
  program.label('socket').load(SeccompData.ARGUMENTS);
  program.ifEqual(AF_ALG, { yes: 'denied' }).ifEqual(AF_VSOCK, { yes: 'denied', no: 'allowed' });
  program.label('personality').load(SeccompData.ARGUMENTS);
  for (const value of PERSONALITIES) program.ifEqual(value, { yes: 'allowed' });
  program.label('denied').give(Verdict.ERRNO + EPERM);
  program.label('absent').give(Verdict.ERRNO + ENOSYS);
  program.label('allowed').give(Verdict.ALLOW);
  return program.build();
}
