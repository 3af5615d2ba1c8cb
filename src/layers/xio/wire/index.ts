/** What is said between ends of a session: pure functions over bytes. */
export { statusName, XIO_BASE_STATUS, XioStatus, type XioStatusName } from './status.js';
