import everything from '../jest.config.js'

/**
 * The tests of `npm run test:slow`: every kill, the pages in Chromium, the launcher and its programs, and
 * costs. One kill and one race of each hot path, and twelve pages in Chromium, are in `npm test`.
 */
export default {
  ...everything,
  rootDir: '..',
  testMatch: ['**/*.slow.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
}
