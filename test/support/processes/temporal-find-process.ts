import { findTemporal } from '../../../src/dev/temporal/binary.ts'
import { RELEASE } from '../../../src/dev/temporal/release.ts'

/** A process to race or to kill: it gets a Temporal and says where it is. */
const tell = (line: string) => process.stdout.write(`${line}\n`)
const found = await findTemporal({ env: process.env, tell, release: { ...RELEASE, archives: {} } })
tell(`found ${found.binary}`)
