/** UCX's UCP, for programs that run in Node. */
import './machine/hosting/index.js';

export * from './portable-ucp.js';
