export default {
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  // `npm run test:peers` runs those that need `go` and `python3`, `npm run test:slow` those that take long.
  testPathIgnorePatterns: ['/node_modules/', '/test/peers/', '\\.slow\\.test\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  // Jest erases the types by itself, as Node does.
  transform: {},
  // Far longer than any test takes on a busy machine, and longer than each of its waits, which say what they wait for.
  testTimeout: 300_000,
  maxWorkers: 3,
  // A worker that has run many files is replaced: the module registries of old ones are never given back, and
  // collecting a heap of twice the size costs more than new services.
  workerIdleMemoryLimit: '1200MB',
  testEnvironment: '<rootDir>/test/support/jest/environment.js',
  testSequencer: '<rootDir>/test/support/jest/sequencer.js',
  setupFilesAfterEnv: ['<rootDir>/test/support/jest/assertions.ts'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/support/jest/reporter.js'],
}
