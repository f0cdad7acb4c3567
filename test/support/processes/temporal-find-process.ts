import { findTemporal } from '../../../src/dev/temporal/binary.ts'
import { TEMPORAL_RELEASE } from '../../../src/dev/temporal/download.ts'

/** A process for tests to race or kill: it finds a Temporal binary and prints its path. */
const tell = (line: string) => process.stdout.write(`${line}\n`)
const search = await findTemporal({ env: process.env, tell, release: { ...TEMPORAL_RELEASE, archives: {} } })
tell(`found ${search.binary}`)
