/** Links: their interface, links around other links, and links of the simulated network. */
export { type ArenaPacket, ArenaSink } from './arena-sink.js';
export { GroupTable } from './group-table.js';
export * from './link.js';
export { disturb, DisturbedLink, type DisturbOptions } from './netem.js';
export { NETEM_EXAMPLE, type NetemDirection, type NetemSettings, parseNetem } from './netem-words.js';
export * from './simulated/index.js';
export { type PacketRecorder, tap, type TapOptions, TappedLink } from './tap.js';
