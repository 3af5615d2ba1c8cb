/** What ends of a session do, as machines that know neither links nor time. */
export * from './accesses.js';
export { type GrantAnswer, type GrantedPlace, type GrantHost, Grants, MOST_GRANTS, spoilable } from './grants.js';
export { Channel, type ChannelListener } from './channel.js';
export type { ClientHost, ClientManners } from './client-host.js';
export { ClientMachine } from './client-machine.js';
export { Item, type ItemFields } from './item.js';
export { hex, type ServedEnd, ServedSessions, type Verdict } from './served-sessions.js';
