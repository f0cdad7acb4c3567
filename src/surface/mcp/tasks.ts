import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { problemOf } from '../../kernel/database/retry.ts'
import { days } from '../../values/clock.ts'
import { approvalCount } from './intents.ts'
import { findTask, type Task } from './task-records.ts'
import { maskCardNumbersInResult, ourFault, type ToolCall, type ToolResult } from './tool-call.ts'

const EXTENSION = 'io.modelcontextprotocol/tasks'

export const tasksExtension = { [EXTENSION]: {} }

export const takesTasks = (server: Server): boolean =>
  server.getClientCapabilities()?.extensions?.[EXTENSION] !== undefined

/** After the deadline of its record, a task can be looked at for at least this long. */
const KEPT_MS = days(1)

const LOOK_EVERY_MS = 5_000

function seedOf({ kind, record }: Task, context: Context) {
  const { id, createdAt, updatedAt } = record
  const status = kind.stateOf(record)
  return {
    taskId: id,
    status,
    ...(status === 'working' ? { statusMessage: messageOf({ kind, record }, context) } : {}),
    createdAt,
    lastUpdatedAt: updatedAt,
    ttlMs: Date.parse(endOf(record)) - Date.parse(createdAt) + KEPT_MS,
    pollIntervalMs: LOOK_EVERY_MS,
  }
}

const endOf = ({ expiresAt, dueAt, createdAt }: Task['record']): string =>
  expiresAt ?? String(dueAt ?? createdAt)

function messageOf({ kind, record }: Task, context: Context): string {
  const { status, reason } = record
  if (status !== kind.waiting) return 'It is approved, and is being carried out.'
  const count = approvalCount(record)
  return typeof reason === 'string' && kind.cancels
    ? `The merchant is asked again at ${endOf(record)}: ${reason}.`
    : `${count === undefined ? 'A person decides' : `${count}. The people whom the policy asks decide`} at ${kind.pageOf(record, context)} before ${endOf(record)}.`
}

/**
 * Gives a client that takes tasks the task of a record that waits for a person because of this call. Reading such a
 * record gives the record.
 */
export async function taskInPlaceOf(result: object, call: ToolCall, context: Context): Promise<object> {
  const id = call.takesTasks && isWriting(call, context) ? recordIdIn(result as ToolResult) : undefined
  const task = id === undefined ? undefined : await findTaskSafely(id, context)
  if (!task?.kind.open.includes(task.record.status)) return result
  const { _meta } = result as ToolResult
  return { resultType: 'task', ...seedOf(task, context), ...(_meta === undefined ? {} : { _meta }) }
}

/** The tool has committed its change, so its answer must not become a refusal. */
async function findTaskSafely(id: string, context: Context): Promise<Task | undefined> {
  try {
    return await findTask(id, context)
  } catch (error) {
    context.service.tools.reportFailure(error, context.requestId)
    return undefined
  }
}

function isWriting({ name, given }: ToolCall, { service: { tools } }: Context): boolean {
  const target = name === 'call_operation' ? tools.target(String(given.operation)) : tools.named(name)
  return target?.isWriting ?? name === 'propose_change'
}

function recordIdIn({ structuredContent = {} }: ToolResult): string | undefined {
  const { id, proposal } = structuredContent
  const found = (proposal as { readonly id?: unknown } | undefined)?.id ?? id
  return typeof found === 'string' ? found : undefined
}

const Named = z.object({ taskId: z.string().max(128) })

/**
 * Registers the methods of the extension. A client's person is asked before there is a task, so `tasks/update`
 * brings answers to questions that are open no more, and these are ignored.
 */
export function serveTasks(server: Server, context: Context): void {
  const serve = (method: string, answer: (task: Task) => Promise<object> | object) =>
    server.setRequestHandler(`tasks/${method}`, { params: Named }, ({ taskId }, { mcpReq }) => {
      if (!takesTasks(server))
        throw new MissingRequiredClientCapabilityError({
          requiredCapabilities: { extensions: tasksExtension },
        })
      if (method === 'update' && mcpReq.inputResponses === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'inputResponses: required.')
      return shielded(async () => answer(await ownTask(taskId, context)), context) as never
    })
  serve('get', async task => maskCardNumbersInResult(await shownTask(task, context), 'tasks/get', context))
  serve('update', () => ({}))
  serve('cancel', task => cancelTask(task, context))
}

/** A defect goes only to the log, since its message may come from the database. */
async function shielded<T>(work: () => Promise<T>, { service, requestId }: Context): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { code, message } = problemOf(error, failure => service.tools.reportFailure(failure, requestId))
    const sentence = code === 'internal' ? ourFault(requestId) : `${code}: ${message}`
    throw new ProtocolError(ProtocolErrorCode.InternalError, sentence)
  }
}

async function ownTask(id: string, context: Context): Promise<Task> {
  const task = await findTask(id, context)
  if (!task) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'taskId: no such task.')
  return task
}

async function shownTask(task: Task, context: Context): Promise<object> {
  const { kind, record } = task
  const seed = seedOf(task, context)
  if (seed.status !== 'completed') return seed
  return { ...seed, result: { ...(await kind.resultOf(record, context)), resultType: 'complete' } }
}

/** Refusals with these codes of HTTP say that the record has ended, or is ending, otherwise. */
const ENDED: ReadonlySet<number> = new Set([400, 409, 410])

/**
 * Cancels the record while it waits. Its operation decides, as for a tool: it also cancels an intent that a person
 * approves in the same instant, unless a payment has begun. A task that is over is only acknowledged.
 */
async function cancelTask({ kind, record }: Task, context: Context): Promise<object> {
  if (kind.stateOf(record) !== 'working') return {}
  const id = String(record[kind.cancels ?? 'id'])
  const { refusal, status } = await context.service.tools.call(context, kind.cancel, { id }, null)
  if (!refusal || ENDED.has(status)) return {}
  if (status >= 500) throw new Problem('unavailable', refusal.message)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${refusal.code}: ${refusal.message}`)
}
