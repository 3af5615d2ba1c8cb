/** Starts a program whose first call, that to run it, waits for an answer of ours that does not come. */
import { assembleFilter } from '../../launcher/filter.js';
import { thisMachine } from '../../launcher/system-calls.js';
import { auditArch, installFilter, spawnProgram } from '../../../node/system/index.js';

const listenerFd = installFilter(assembleFilter([{ call: 'execve' }], thisMachine() ?? 'x64', auditArch() ?? 0));
spawnProgram('true', ['true'], process.env, listenerFd);
