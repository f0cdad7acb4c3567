import { TestEnvironment } from 'jest-environment-node'

/**
 * A worker that has nothing left to do ends at once. By itself Node first takes down its whole heap, module registry by
 * module registry: with some hundred megabytes, on a busy machine, that lasts longer than the half second after which
 * Jest takes a worker for stuck. One that has something open is found out as before.
 */
process.once('beforeExit', () => process.exit())

/**
 * Lines are where they stand in the file, as nothing is compiled: Jest need not look each up in a source map, which
 * takes the longer the more often Temporal's SDK asks where it is.
 */
export default class Environment extends TestEnvironment {
  async setup() {
    await super.setup()
    Error.prepareStackTrace = undefined
  }
}
