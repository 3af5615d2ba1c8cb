import { NativeBlock } from './memory/memory.js';
import { requireNativeHost } from './native.js';

const SIG_SETMASK = 2;
/** `sigset_t` of the C library. */
const SET_BYTES = 128;

const sets = { all: undefined as NativeBlock | undefined, before: undefined as NativeBlock | undefined };

/** Lets no signal reach the calling thread from now on. Signals of the process go to its other threads. */
export function blockSignals(): void {
  const all = (sets.all ??= new NativeBlock(SET_BYTES));
  all.words.fill(-1);
  requireNativeHost().libc.sigmask(SIG_SETMASK, all.address, 0);
}

/** Does something during which no signal reaches the calling thread. Those that come meanwhile come afterwards. */
export function withoutSignals<T>(action: () => T): T {
  const { libc } = requireNativeHost();
  const all = (sets.all ??= new NativeBlock(SET_BYTES));
  const before = (sets.before ??= new NativeBlock(SET_BYTES));
  all.words.fill(-1);
  libc.sigmask(SIG_SETMASK, all.address, before.address);
  try {
    return action();
  } finally {
    libc.sigmask(SIG_SETMASK, before.address, 0);
  }
}
