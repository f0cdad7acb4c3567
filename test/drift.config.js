import everything from '../jest.config.js'

const { globalSetup, globalTeardown, reporters, ...common } = everything

/** The tests that `npm run check` runs: they read sources and documents, and need no server. */
export default {
  ...common,
  rootDir: '..',
  testMatch: ['tidy', 'pages', 'contract-text', 'derive/openapi/document', 'platform/settings/settings'].map(
    name => `<rootDir>/test/${name}.test.ts`,
  ),
}
