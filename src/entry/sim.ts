/** Verbena's simulation, for programs that run in Node: what they await goes on where it began. */
import '../node/hosting/index.js';

export * from '../sim/index.js';
