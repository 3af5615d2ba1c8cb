/** What sessions of xio say on the wire, for those who read captures. */
export { XioDissector } from './xio-dissector.js';
