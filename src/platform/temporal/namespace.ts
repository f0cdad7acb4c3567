import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, isGrpcServiceError } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import searchAttributes from '../../../temporal-config/search-attributes.json' with { type: 'json' }
import { clock } from '../../values/clock.ts'

/** Retention of closed runs in a new namespace. An existing namespace keeps its operator's value. */
const RETENTION = '30 days'

const CALL_MS = 5_000
const PATIENCE_MS = 60_000
const AGAIN_AFTER_MS = 500
const ALREADY_EXISTS = 6

export async function ensureNamespace(connection: Connection, namespace: string): Promise<void> {
  await retrying(() => connection.withDeadline(soon(), () => register(connection, namespace)))
  // A new namespace takes the server some seconds to reach all its parts.
  await retrying(() => connection.withDeadline(soon(), () => addSearchAttributes(connection, namespace)))
}

const soon = () => clock.milliseconds() + CALL_MS

async function register({ workflowService }: Connection, namespace: string): Promise<void> {
  const workflowExecutionRetentionPeriod = msToTs(RETENTION)
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }).catch(error => {
    if (!isGrpcServiceError(error) || error.code !== ALREADY_EXISTS) throw error
  })
}

/** Retries for a minute: a server that has just started refuses calls. */
async function retrying<T>(work: () => Promise<T>): Promise<T> {
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

const TYPES: Readonly<Record<string, number>> = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
}

export async function addSearchAttributes({ operatorService }: Connection, namespace: string): Promise<void> {
  const types = Object.entries(searchAttributes).map(([name, type]) => [name, TYPES[type] ?? 0])
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(types) })
}
