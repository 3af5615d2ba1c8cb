/** What UCP says on the wire, for those who read captures: that of this package, and UCX's. */
export { UcpDissector } from './ucp-dissector.js';
