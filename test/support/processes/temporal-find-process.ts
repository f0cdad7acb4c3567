import { findTemporal } from '../../../src/dev/temporal/binary.ts'
import { unpublished } from './releases.ts'

/** A process for tests to race or kill: it finds a Temporal binary and prints its path. */
const tell = (line: string) => process.stdout.write(`${line}\n`)
const search = await findTemporal({ env: process.env, tell, releases: unpublished })
tell(`found ${search.binary}`)
