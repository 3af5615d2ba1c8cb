/** Where a program's devices and memory come from, and what layers above the verbs need of a device besides the verbs. */
export { alloc } from './alloc.js';
export * from './current-provider.js';
export * from './provider.js';
