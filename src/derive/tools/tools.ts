import type { Actor } from '../../kernel/contract/actor.ts'
import { isWritingOperation, type RegisteredOperation } from '../../kernel/contract/operation.ts'
import { runInSlices, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import {
  type OperationTools,
  signatureRequirement,
  type ToolDefinition,
  type ToolOptions,
} from '../../kernel/contract/tool.ts'
import type { ExecuteCall } from '../../kernel/run/execute.ts'
import { parseBoundedJson } from '../http/body.ts'
import { runToolCall } from './call.ts'
import { findRecordReaders, planToolCall, readRecordAsService } from './plan.ts'
import { describedTarget, isToolOperation, mayCallOperation, toolDefinition, toolTarget } from './targets.ts'

interface Indexed {
  readonly registered: RegisteredOperation
  readonly name: ReadonlySet<string>
  readonly summary: ReadonlySet<string>
  readonly rest: ReadonlySet<string>
}

const WORD = /[a-z\d]{2,}/g
const MAX_WORDS = 20

const wordsOf = (text: string): string[] =>
  (
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(WORD) ?? []
  ).map(word => (word.length > 3 ? word.replace(/s$/, '') : word))

const setOf = (text: string): ReadonlySet<string> => new Set(wordsOf(text))

function searcher(operations: readonly RegisteredOperation[]): (query: string) => RegisteredOperation[] {
  const index = operations.map(
    (registered): Indexed => ({
      registered,
      name: setOf(`${registered.key} ${registered.tag}`),
      summary: setOf(`${registered.operation.summary} ${registered.operation.path}`),
      rest: setOf(`${registered.operation.description ?? ''} ${registered.operation.tool?.use ?? ''}`),
    }),
  )
  return query => {
    const words = [...new Set(wordsOf(query))].slice(0, MAX_WORDS)
    return index
      .map(one => ({ one, score: scoreOf(one, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || (a.one.registered.key < b.one.registered.key ? -1 : 1))
      .map(({ one }) => one.registered)
  }
}

const scoreOf = ({ name, summary, rest }: Indexed, words: readonly string[]): number =>
  words.reduce(
    (sum, word) => sum + (name.has(word) ? 5 : 0) + (summary.has(word) ? 3 : 0) + (rest.has(word) ? 1 : 0),
    0,
  )

interface Common {
  readonly registered: RegisteredOperation
  readonly tool: ToolOptions
  readonly forAgents: ToolDefinition
  readonly forOthers: ToolDefinition
}

export interface ToolReports {
  readonly onFailure: (error: unknown, requestId: string) => void
  readonly onCardNumber: (tool: string, requestId: string) => void
}

/** Offers the operations as tools. Their schemas are built at the first use, as most processes need none. */
export function createTools(
  operations: readonly RegisteredOperation[],
  execute: ExecuteCall,
  reports: ToolReports,
): OperationTools {
  const reachable = new Map(
    operations.filter(isToolOperation).map(registered => [registered.key, registered]),
  )
  const named = new Map([...reachable.values()].flatMap(one => nameOf(one)))
  const readers = findRecordReaders(reachable.values())
  const common = onceAsked(() => runInSlices(commonAmong([...reachable.values()])))
  const search = onceAsked(() => searcher([...reachable.values()]))
  return {
    read: parseBoundedJson,
    listFor: async (actor, mayWrite) =>
      (await common())
        .filter(one => mayCallOperation(actor, one.registered.operation))
        .filter(one => mayWrite || !isWritingOperation(one.registered.operation))
        .map(one => (actor.type === 'agent' ? one.forAgents : one.forOthers)),
    named: name => mapped(named.get(name), toolTarget),
    target: operation => mapped(reachable.get(operation), toolTarget),
    signatureOf: operation => signatureRequirement(reachable.get(operation)?.operation.signature),
    mayCall: (actor, operation) => visible(reachable.get(operation), actor) !== undefined,
    search: (actor, words, most) =>
      search()(words)
        .filter(({ operation }) => mayCallOperation(actor, operation))
        .slice(0, most)
        .map(toolTarget),
    describe: (actor, operation) =>
      mapped(visible(reachable.get(operation), actor), registered =>
        describedTarget(registered, { isAgent: actor.type === 'agent', isShort: false }),
      ),
    async call(caller, operation, given, idempotencyKey, prefersAsync = false) {
      const registered = reachable.get(operation)
      if (!registered) throw new Error(`no tool reaches ${operation}`)
      const parts = { execute, onFailure: reports.onFailure }
      return runToolCall(parts, caller, registered, given, { idempotencyKey, prefersAsync })
    },
    plan: (caller, operation, given) =>
      mapped(reachable.get(operation), registered => planToolCall(readers, caller, registered, given)),
    async readRecord(tenant, operation, given, requestId) {
      const registered = reachable.get(operation)
      return registered && readRecordAsService(execute, registered, tenant, given, requestId)
    },
    reportFailure: reports.onFailure,
    reportCardNumber: reports.onCardNumber,
  }
}

const visible = (
  registered: RegisteredOperation | undefined,
  actor: Actor,
): RegisteredOperation | undefined =>
  registered && mayCallOperation(actor, registered.operation) ? registered : undefined

const mapped = <T, R>(value: T | undefined, change: (value: T) => R): R | undefined =>
  value === undefined ? undefined : change(value)

const nameOf = (registered: RegisteredOperation): [string, RegisteredOperation][] => {
  const { tool } = registered.operation
  return tool ? [[tool.name, registered]] : []
}

function* commonAmong(all: readonly RegisteredOperation[]): SlicedWork<Common[]> {
  const common: Common[] = []
  for (const registered of all) {
    common.push(...commonOf(registered))
    yield
  }
  return common
}

function commonOf(registered: RegisteredOperation): Common[] {
  const { operation } = registered
  const { tool } = operation
  if (!tool?.isCommon) return []
  return [
    {
      registered,
      tool,
      forAgents: toolDefinition(operation, tool, { isAgent: true, isShort: true }),
      forOthers: toolDefinition(operation, tool, { isAgent: false, isShort: true }),
    },
  ]
}

function onceAsked<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
