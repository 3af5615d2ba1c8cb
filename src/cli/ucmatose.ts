export { command } from './ucmatose/command.js';
