import everything from '../jest.config.js'

const { testPathIgnorePatterns, ...common } = everything

/**
 * The tests that `npm run test:peers` runs: foreign programs read our output, and the package of Python is
 * installed and calls the service. They need `go`, and `python3` with its modules venv and pip.
 */
export default { ...common, rootDir: '..', testMatch: ['<rootDir>/test/peers/*.test.ts'] }
