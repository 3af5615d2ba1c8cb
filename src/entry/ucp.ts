/** UCX's UCP, for programs that run in Node. */
import '../node/hosting/index.js';

export * from './portable-ucp.js';
