import { TestEnvironment } from 'jest-environment-node'

/**
 * Ends an idle worker at once. Otherwise Node first tears down its heap, which on a busy machine takes longer than the half
 * second after which Jest calls a worker stuck. A worker with open handles is still detected.
 */
process.once('beforeExit', () => process.exit())

/**
 * Removes Jest's lookup of source maps in stack traces: nothing is compiled, and Temporal's SDK takes so many stack traces
 * that the lookups would be slow.
 */
export default class Environment extends TestEnvironment {
  async setup() {
    await super.setup()
    Error.prepareStackTrace = undefined
  }
}
