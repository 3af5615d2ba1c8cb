/** UCX's UCP, for programs that run in Node. */
import '../node/hosting/index.js';

export * from '../protocols/ucp/index.js';
