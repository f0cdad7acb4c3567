import { TestEnvironment } from 'jest-environment-node'

/**
 * A worker that has nothing left to do ends at once. By itself Node first takes down its whole heap, module registry by
 * module registry: with some hundred megabytes, on a busy machine, that lasts longer than the half second after which
 * Jest takes a worker for stuck. One that has something open is found out as before.
 */
process.once('beforeExit', () => process.exit())

export default TestEnvironment
