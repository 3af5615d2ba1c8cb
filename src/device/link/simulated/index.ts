/** The simulated network and what belongs to it. */
export { SimulatedLink, type SimulatedLinkOptions } from './simulated-link.js';
export * from './simulated-network.js';
export { type LinkConditions, PERFECT_CONDITIONS } from './conditions.js';
export type { PacketHeader, SimulatedFrame, SimulatedPacket, Verdict } from './packet.js';
export { SeededRandom } from './random.js';
export { EventQueue } from './event-queue.js';
