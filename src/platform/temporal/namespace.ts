import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, isGrpcServiceError } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { clock } from '../../values/clock.ts'
import { addSearchAttributes } from './search-attributes.ts'

/** How long an ended run can be looked at. A namespace that exists keeps what its operator has given it. */
const RETENTION = '30 days'

const CALL_MS = 5_000
const PATIENCE_MS = 60_000
const AGAIN_AFTER_MS = 500
const ALREADY_EXISTS = 6

/** Makes a namespace in a cluster, with our search attributes; what is there already stays as it is. */
export async function makeNamespace(connection: Connection, namespace: string): Promise<void> {
  await patiently(() => connection.withDeadline(soon(), () => register(connection, namespace)))
  // The server itself takes some seconds until it knows of a new namespace everywhere.
  await patiently(() => connection.withDeadline(soon(), () => addSearchAttributes(connection, namespace)))
}

const soon = () => clock.milliseconds() + CALL_MS

async function register({ workflowService }: Connection, namespace: string): Promise<void> {
  const workflowExecutionRetentionPeriod = msToTs(RETENTION)
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }).catch(error => {
    if (!isGrpcServiceError(error) || error.code !== ALREADY_EXISTS) throw error
  })
}

/** A server that has just started refuses at first. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (performance.now() - began > PATIENCE_MS) throw error
      await sleep(AGAIN_AFTER_MS)
    }
  }
}
