import everything from '../jest.config.js'

const { globalSetup, globalTeardown, testPathIgnorePatterns, ...common } = everything

/**
 * The tests that `npm run test:peers` runs: foreign programs read our output. They need `go` and `python3`, and no
 * server.
 */
export default { ...common, rootDir: '..', testMatch: ['<rootDir>/test/peers/*.test.ts'] }
