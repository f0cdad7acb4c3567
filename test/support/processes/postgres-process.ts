import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'

/** A process to kill: it starts a PostgreSQL and says where. */
const { url } = await startPostgres({ dataDir: process.argv[2] ?? '', port: 0, durable: false })
process.stdout.write(`ready ${url}\n`)
