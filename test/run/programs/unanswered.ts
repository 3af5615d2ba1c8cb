/** Starts a program whose first call, that to run it, waits for an answer of ours that does not come. */
import { assembleFilter } from '../../../src/apps/run/launcher/filter.js';
import { thisMachine } from '../../../src/apps/run/launcher/system-calls.js';
import { auditArch, installFilter, spawnProgram } from '../../../src/machine/system/index.js';

const listenerFd = installFilter(assembleFilter([{ call: 'execve' }], thisMachine() ?? 'x64', auditArch() ?? 0));
spawnProgram('true', ['true'], process.env, listenerFd);
