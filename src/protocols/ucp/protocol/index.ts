/** What UCP decides, without a clock and without transports: pure machines and functions. */
export * from './selection.js';
export { partOf, putInto, putRest, steady } from './program-bytes.js';
export * from './tag-matching.js';
export { FULL_MASK, type Tag, tagIn, tagOf, tagValue } from './tag.js';
