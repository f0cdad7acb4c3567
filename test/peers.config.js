import everything from '../jest.config.js'

const { testPathIgnorePatterns, ...common } = everything

/**
 * The tests that `npm run test:peers` runs: foreign programs read our output, and the package of Python is
 * installed and calls the service, and generators write clients that pay. They need `go`, `python3` with its modules venv and pip,
 * `java` (17 or later) and `mvn`.
 */
export default { ...common, rootDir: '..', testMatch: ['<rootDir>/test/peers/*.test.ts'] }
