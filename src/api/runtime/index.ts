/** What the API asks of what it runs in, Node or a page of a browser, and how programs wait in its event loop. */
export { whenAborted } from './aborts.js';
export { afterCallbacks, Callbacks, CallbackTurn, Duty, Microtask, ownTurn } from './callbacks.js';
export { runtime, useRuntime, warnOf } from './current.js';
export type { Folder, FolderFile } from './folder.js';
export { inPieces, LONGEST_MS, portable } from './portable.js';
export { isTimeHeld, isYielding, nextHeldRound, yieldRound } from './rounds.js';
export * from './runtime.js';
export { SharedLife } from './shared-life.js';
export { type EventFollower, type Following, Waiters, type WaitSource } from './waiters.js';
