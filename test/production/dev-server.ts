import { findTemporal } from '../../src/dev/temporal/binary.ts'
import { printLine } from '../../src/platform/output.ts'

/** The binary of Temporal's development server, which is downloaded or built where it is missing. */
export async function devServer(): Promise<string> {
  const found = await findTemporal({ env: process.env, tell: printLine })
  if (found.binary === null) throw new Error(found.reason)
  return found.binary
}
