import everything from '../jest.config.js'

const { globalSetup, globalTeardown, reporters, ...common } = everything

/** The tests of `npm run check`: they read sources and documents, and need no server. */
export default {
  ...common,
  rootDir: '..',
  testMatch: ['tidy', 'pages', 'contract-text', 'derive/openapi/document', 'platform/settings/settings'].map(
    name => `<rootDir>/test/${name}.test.ts`,
  ),
}
