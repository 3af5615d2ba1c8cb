/** The hosts. Everybody knows all addresses. */
export const VICTIM = '10.0.0.1';
export const FRIEND = '10.0.0.2';
/** A friend that is silent: the victim waits for its answers. */
export const SILENT = '10.0.0.3';
/** A friend that asked for a connection, and has not said yet that it is ready. */
export const SLOW = '10.0.0.4';
export const ADVERSARY = '10.0.0.66';

export const PORT = 7000;
export const UDP_PORT = 7001;
/** Requests that may wait at each of its listeners. */
export const BACKLOG = 64;
