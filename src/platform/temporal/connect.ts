import { Connection, type ConnectionOptions } from '@temporalio/client'

const CONNECT_MS = 5_000

/** For a job, which fails where the server does not answer, and is started again. */
export const connectTemporal = (client: ConnectionOptions): Promise<Connection> =>
  Connection.connect({ ...client, connectTimeout: CONNECT_MS }).catch(() => {
    throw new Error(`The Temporal server at ${client.address} cannot be reached.`)
  })
