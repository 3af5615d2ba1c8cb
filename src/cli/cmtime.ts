export { command } from './cmtime/command.js';
