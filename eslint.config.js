import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { circlesPlugin } from './scripts/lint/circles.mjs';
import { roomsPlugin } from './scripts/lint/rooms.mjs';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.node/', 'docs/api/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    plugins: { rooms: roomsPlugin, circles: circlesPlugin },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'rooms/imports': 'error',
      'circles/imports': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 500 }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExportDefaultDeclaration',
          message: 'Export by name: a default export has no name to search for.',
        },
        { selector: 'TSEnumDeclaration', message: 'Write a const object and a union type of the same name.' },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      '@typescript-eslint/no-unused-private-class-members': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Numbers and bigints read well in sentences; objects do not.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/no-empty-function': ['error', { allow: ['arrowFunctions', 'private-constructors'] }],
      // There are no enums, and to look for them takes a tenth of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Classes have private fields, so that the compiler itself takes nothing but instances; and to look for them takes a seventh of the time.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // An indexed loop over a typed array is the fast one.
      '@typescript-eslint/prefer-for-of': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'it', 'describe', 'suite'], package: 'node:test' },
          ],
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/apps/cli/**', 'src/api/runtime/portable.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    // These rooms run in a worker, in a browser page and under virtual time: no Node, no clock, no dice of their own.
    files: ['src/{device,api}/**/*.ts'],
    // It says what a runtime has, where nobody has said more.
    ignores: ['src/api/runtime/portable.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        'Buffer',
        'process',
        'global',
        'setTimeout',
        'setInterval',
        'setImmediate',
        {
          name: 'SharedArrayBuffer',
          message: 'Most pages of a browser do not know it: createRing and runtime().memory give memory.',
        },
      ],
      'no-restricted-properties': [
        'error',
        {
          object: 'Math',
          property: 'random',
          message: 'Randomness comes in from outside, so that a run can be replayed.',
        },
        { object: 'Date', property: 'now', message: 'Time comes in from outside, so that a run can be replayed.' },
        { object: 'performance', property: 'now', message: 'Time comes in from outside.' },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        URL: 'readonly',
        console: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
      },
    },
  },
);
