/** Messages, and memory that peers share, for programs that run in Node. */
import '../node/hosting/index.js';

export * from '../protocols/messages/index.js';
