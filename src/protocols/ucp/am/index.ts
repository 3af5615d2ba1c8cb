/** Active messages of programs. */
export { AmEnd, type AmSendOptions } from './am-end.js';
export { AmMessage } from './am-message.js';
export { type AmHandler, Ams } from './ams.js';
