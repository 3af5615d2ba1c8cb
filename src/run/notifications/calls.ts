import type { NotifiedCalls } from '../../node/system/index.js';

/** The call of a program that waits for its answer, as those see it who answer it. */
export type Calls = Omit<NotifiedCalls, 'receive' | 'wakeInPlace' | 'close' | 'fd' | 'instruction'>;
