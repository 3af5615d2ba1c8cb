// Runs a command as in a container of Docker's, as far as seccomp goes: `node under-docker.js COMMAND ARGS`.
import koffi from 'koffi';
import { NativeBlock } from '../../../src/node/system/memory/memory.js';
import { requireNativeHost } from '../../../src/node/system/native.js';
import { dockerProfile } from '../docker-profile.js';

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
const INSTRUCTION_BYTES = 8;
const F_SETFD = 2;

const native = requireNativeHost();
const program = dockerProfile();
const code = new NativeBlock(program.length);
code.bytes.set(program);
const descriptor = new NativeBlock(16);
descriptor.words[0] = program.length / INSTRUCTION_BYTES;
descriptor.putPointer(8, code.address);
if (native.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) throw native.failure('prctl');
const execvp = koffi.load(null).func('int execvp(const char *file, const char **words)');
const command = process.argv.slice(2);
// Node keeps its standard streams from what it becomes.
for (const fd of [0, 1, 2]) native.libc.fcntl(fd, F_SETFD, 0);
// It is this thread's, which becomes the command. As this program it could not go on: libuv may have set up an io_uring, which a
// container would have refused it at once.
if (native.libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, descriptor.address, 0, 0) < 0) throw native.failure('prctl');
execvp(command[0], [...command, null]);
throw native.failure('execvp');
