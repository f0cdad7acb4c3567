import { startTemporal } from '../../../src/dev/temporal/server.ts'

/** A process to kill: it starts a Temporal and says where. */
const [, , binary = '', dataDir = ''] = process.argv
const { address } = await startTemporal({ binary, dataDir, ports: { grpc: 0, ui: 0 } })
process.stdout.write(`ready ${address}\n`)
