/** The simulated network and what belongs to it. */
export { SimulatedLink, type SimulatedLinkOptions } from './simulated-link.js';
export { SimulatedNetwork, type SimulatedNetworkOptions } from './simulated-network.js';
export { type LinkConditions, PERFECT_CONDITIONS } from './simulation/conditions.js';
export type { PacketHeader, SimulatedFrame, SimulatedPacket, Verdict } from './simulation/packet.js';
export { SeededRandom } from './simulation/random.js';
export { EventQueue } from './simulation/event-queue.js';
export type { Happening, NetworkWatcher } from './simulation/watcher.js';
