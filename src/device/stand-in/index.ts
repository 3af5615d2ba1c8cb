/** What answers peers while the program, and with it the NIC in its thread, stands still. */
export { type PeerFacts, PeerTable, RNR_RETRY_INFINITE, Row } from './peer-table.js';
export { StandIn, Verdict } from './stand-in.js';
