import type { ProgramThread } from './program-thread.js';

/** What the program is told and tells, beside its calls. */
export interface ProgramCallbacks {
  /** Its calls, and those of all that it starts, come to this descriptor. Nothing is started before that has returned. */
  onFiltered(listenerFd: number): void;
  onStarted(pid: number): void;
  /** It could not be started. */
  onFailed(end: ProgramEnd): void;
}

export interface ProgramEnd {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly refused?: string;
  readonly sentence?: string;
}

/** As a shell ends when it cannot start a program. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;

function notStarted(file: string, errno: string): ProgramEnd {
  const missing = errno === 'ENOENT';
  const sentence = missing ? `${file}: there is no such program` : `${file} cannot be started: ${errno}`;
  return { code: missing ? NOT_FOUND : NOT_STARTED, signal: null, sentence };
}

/** Starts a program below a filter, from a thread that ends then. */
export function startProgram(
  thread: ProgramThread,
  filter: Uint8Array,
  wakeFd: number,
  [file = '', ...args]: readonly string[],
  callbacks: ProgramCallbacks,
): void {
  const go = new Int32Array(new SharedArrayBuffer(4));
  thread.onFailure((error) => callbacks.onFailed({ code: 1, signal: null, sentence: error.message }));
  thread.order({ filter, wakeFd, file, args, go }, (message) => {
    switch (message.kind) {
      case 'filtered':
        callbacks.onFiltered(message.listenerFd);
        Atomics.store(go, 0, 1);
        Atomics.notify(go, 0);
        return;
      case 'started':
        callbacks.onStarted(message.pid);
        return;
      case 'failed':
        callbacks.onFailed(notStarted(file, message.errno));
        return;
      case 'refused':
        callbacks.onFailed({ code: 1, signal: null, refused: message.errno });
        return;
    }
  });
}
