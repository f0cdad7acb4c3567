import everything from '../jest.config.js'

const { testPathIgnorePatterns, ...common } = everything

/**
 * The tests of `npm run test:peers`: other vendors' programs read our output, the Python package is installed
 * and calls the service, and generators write clients that pay. They need `go`, `python3` with its modules
 * venv and pip, `java` (17 or later) and `mvn`.
 */
export default { ...common, rootDir: '..', testMatch: ['<rootDir>/test/peers/*.test.ts'] }
