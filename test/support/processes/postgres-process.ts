import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'

/** A process for tests to kill: it starts a PostgreSQL and prints its URL. */
const { url } = await startPostgres({ dataDir: process.argv[2] ?? '', port: 0, durable: false })
process.stdout.write(`ready ${url}\n`)
