/** Verbena's simulation, for programs that run in Node: what they await goes on where it began. */
import './machine/hosting/index.js';

export * from './api/sim/index.js';
