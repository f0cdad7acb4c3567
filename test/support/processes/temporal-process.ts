import { startTemporal } from '../../../src/dev/temporal/server.ts'

/** A process for tests to kill: it starts a Temporal and prints its address. */
const [, , binary = '', dataDir = ''] = process.argv
const { address } = await startTemporal({ binary, dataDir, ports: { grpc: 0, ui: 0 } })
process.stdout.write(`ready ${address}\n`)
