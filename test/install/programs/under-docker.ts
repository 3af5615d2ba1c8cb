// Runs a command as in a container of Docker's, as far as seccomp goes: `node under-docker.js COMMAND ARGS`.
import { spawn } from 'node:child_process';
import { NativeBlock } from '../../../src/machine/system/memory/memory.js';
import { requireNativeHost } from '../../../src/machine/system/native.js';
import { dockerProfile } from '../docker-profile.js';

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
const INSTRUCTION_BYTES = 8;

const native = requireNativeHost();
const program = dockerProfile();
const code = new NativeBlock(program.length);
code.bytes.set(program);
const descriptor = new NativeBlock(16);
descriptor.words[0] = program.length / INSTRUCTION_BYTES;
descriptor.putPointer(8, code.address);
if (native.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) throw native.failure('prctl');
// It is this thread's, which is the one that starts the command; that inherits it.
if (native.libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, descriptor.address, 0, 0) < 0) throw native.failure('prctl');
const [file, ...args] = process.argv.slice(2);
spawn(file, args, { stdio: 'inherit' }).on('exit', (exitCode) => process.exit(exitCode ?? 1));
