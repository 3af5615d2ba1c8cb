export { xsrqCommand as command } from './pingpong/xsrq-command.js';
