import everything from '../jest.config.js'

/**
 * The tests that `npm run test:slow` runs: every kill, the pages in Chromium, the launcher and its programs, and what things cost.
 * One kill and one race of each hot path, and twelve pages in Chromium, are in `npm test`.
 */
export default {
  ...everything,
  rootDir: '..',
  testMatch: ['**/*.slow.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
}
