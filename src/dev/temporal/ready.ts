import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '@temporalio/client'
import { addSearchAttributes } from '../../platform/temporal/search-attributes.ts'

interface Server {
  readonly address: string
  readonly namespace: string
  /** Aborts the wait. */
  readonly signal: AbortSignal
}

const POLL_MS = 10
const CONNECT_MS = 5_000

/** Waits until a new server answers for its namespace, and makes our search attributes known there. */
export async function prepareTemporal({ address, namespace, signal }: Server): Promise<void> {
  // Loaded only here: the SDK takes as long to load as the server to start.
  const [{ Connection }] = await Promise.all([import('@temporalio/client'), listening(address, signal)])
  const connection = await Connection.connect({ address, connectTimeout: CONNECT_MS })
  try {
    await connection.withAbortSignal(signal, () => prepare(connection, namespace))
  } finally {
    await connection.close()
  }
}

async function listening(address: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`)
  for (;;) {
    signal.throwIfAborted()
    const socket = connect(Number(port), hostname)
    const open = await once(socket, 'connect').catch(() => null)
    socket.destroy()
    if (open) return
    await sleep(POLL_MS)
  }
}

/** Data of an earlier version may lack some attributes. */
async function prepare(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.describeNamespace({ namespace })
  await addSearchAttributes(connection, namespace)
}
