import { writeSync } from 'node:fs'

/** Ends the output with a machine-readable line. */
export default class Reporter {
  onRunComplete(_, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites
    // Jest writes its own summary after this call.
    process.on('exit', () => writeSync(1, `${numPassedTests} passed, ${failed} failed\n`))
  }
}
