// The rules that oxlint does not have: layering, no fragments, no enums. A plugin of oxlint needs a default export.
import { circlesRule } from './circles.mjs';
import { roomsRule } from './rooms.mjs';
import { smallFilesRule } from './small-files.mjs';

const enumRule = {
  meta: { type: 'problem', schema: [] },
  create: (context) => ({
    TSEnumDeclaration: (node) =>
      context.report({ node, message: 'Write a const object and a union type of the same name.' }),
  }),
};

export default {
  meta: { name: 'verbena' },
  rules: { rooms: roomsRule, circles: circlesRule, 'small-files': smallFilesRule, 'no-enum': enumRule },
};
