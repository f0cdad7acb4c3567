import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { ApiCall, ApiResponse } from '../kernel/contract/call.ts'
import { isStreamedContent } from '../kernel/contract/file.ts'
import { csvFormOf, type RegisteredOperation } from '../kernel/contract/operation.ts'
import { Problem } from '../kernel/contract/problem.ts'
import { databaseErrorAsProblem } from '../kernel/database/retry.ts'
import {
  type OpenRuntime,
  openRuntime,
  type ProcessState,
  type RuntimeNote,
  type ServiceSettings,
} from './runtime.ts'

/** A call as the thread receives it: without functions. */
export interface ReadCall extends Omit<ApiCall, 'operation' | 'ending' | 'whenGone'> {
  readonly operation: string
  readonly asCsv: boolean
}

type ReadPart =
  | {
      readonly head: Omit<ApiResponse, 'body'>
      readonly body: Exclude<ApiResponse['body'], AsyncIterable<unknown>>
      readonly isStreamed: boolean
    }
  | { readonly piece: string | Uint8Array }
  | { readonly problem: Pick<Problem, 'code' | 'message' | 'headers'> }
  | { readonly failure: { readonly message: string; readonly stack: string | undefined } }

export type ReadMessage = ReadPart & { readonly notes: readonly RuntimeNote[] }

/** Pages and lists mostly wait for PostgreSQL. */
const CONNECTIONS = 8

interface Reader {
  readonly runtime: OpenRuntime
  readonly operations: ReadonlyMap<string, RegisteredOperation>
}

let reader: Promise<Reader> | undefined
let notes: RuntimeNote[] = []
let state: ProcessState | undefined

/** Loads the service's code, which takes a second, and opens connections of its own. */
export async function openReader(settings: ServiceSettings): Promise<true> {
  reader ??= open(settings)
  await reader
  return true
}

/** Where the processors are busy, payments come first. Only Linux gives a thread a priority of its own. */
function yieldToPayments(): void {
  try {
    setPriority(
      Number(readlinkSync('/proc/thread-self').split('/').at(-1)),
      constants.priority.PRIORITY_BELOW_NORMAL,
    )
  } catch {
    // The thread reads at the priority of the process.
  }
}

async function open(settings: ServiceSettings): Promise<Reader> {
  yieldToPayments()
  const { databasePool } = settings
  const runtime = await openRuntime({
    settings: {
      ...settings,
      databasePool: Math.min(databasePool, CONNECTIONS),
      otelExporterOtlpEndpoint: undefined,
    },
    shared: true,
    onNote: note => notes.push(note),
  })
  runtime.watchTemporal(async () => state?.temporal ?? null)
  return { runtime, operations: new Map(runtime.operations.map(one => [one.key, one])) }
}

export async function closeReader(): Promise<true> {
  const { runtime } = (await reader) ?? {}
  await runtime?.threads.stop()
  await runtime?.database.close()
  return true
}

/** Reads the answer to a call: its head, and then the pieces of a streamed body. */
export async function* answerRead(call: ReadCall, now: ProcessState): AsyncGenerator<ReadMessage> {
  for await (const part of partsOf(call, now)) {
    const noted = notes
    notes = []
    yield { ...part, notes: noted }
  }
}

async function* partsOf(
  { operation: key, asCsv, ...call }: ReadCall,
  now: ProcessState,
): AsyncGenerator<ReadPart> {
  let pieces: AsyncIterator<string | Uint8Array> | undefined
  try {
    if (!reader) throw new Error('the reader is not open')
    const { runtime, operations } = await reader
    const found = operations.get(key)
    if (!found) throw new Error(`there is no operation ${key}`)
    const operation = asCsv ? { ...found, operation: csvFormOf(found.operation) } : found
    adopt(runtime, now)
    const { body, ...head } = await runtime.execute({ ...call, operation, hasTurn: true })
    if (body === null || !isStreamedContent(body)) return yield { head, body, isStreamed: false }
    pieces = body[Symbol.asyncIterator]()
    yield { head, body: null, isStreamed: true }
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield { piece: next.value }
  } catch (thrown) {
    const error = databaseErrorAsProblem(thrown) as Error
    const { message, stack } = error
    if (!(error instanceof Problem)) yield { failure: { message, stack } }
    else yield { problem: { code: error.code, message, headers: error.headers } }
  } finally {
    // A body holds its owner's turn, also where its reader has left before the first piece.
    await pieces?.return?.()
  }
}

function adopt({ addresses, showRunsAt }: OpenRuntime, now: ProcessState): void {
  const { listensAt, webUi } = now
  if (listensAt && listensAt.port !== state?.listensAt?.port)
    addresses.listensAt(listensAt.address, listensAt.port)
  showRunsAt(webUi)
  state = now
}
