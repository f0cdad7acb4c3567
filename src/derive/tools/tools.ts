import type { Actor } from '../../kernel/contract/actor.ts'
import { isWriting, type Registered } from '../../kernel/contract/operation.ts'
import { inSlices, type Sliced } from '../../kernel/contract/time-slices.ts'
import type { Tool, ToolDefinition, Tools } from '../../kernel/contract/tool.ts'
import type { Execute } from '../../kernel/run/execute.ts'
import { jsonOf } from '../http/body.ts'
import { callFor } from './call.ts'
import { planOf, readersAmong, readRecord } from './plan.ts'
import { definitionOf, describedTarget, isReachable, mayCall, targetOf } from './targets.ts'

interface Indexed {
  readonly registered: Registered
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

/** Words of the name count most, then those of the summary. */
function searcher(operations: readonly Registered[]): (query: string) => Registered[] {
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
  readonly registered: Registered
  readonly tool: Tool
  readonly forAgents: ToolDefinition
  readonly forOthers: ToolDefinition
}

export interface ToolReports {
  readonly onFailure: (error: unknown, requestId: string) => void
  readonly onCardNumber: (tool: string, requestId: string) => void
}

/** Offers the operations as tools. Their schemas are built at the first use, as most processes need none. */
export function toolsOf(operations: readonly Registered[], execute: Execute, reports: ToolReports): Tools {
  const reachable = new Map(operations.filter(isReachable).map(registered => [registered.key, registered]))
  const named = new Map([...reachable.values()].flatMap(one => nameOf(one)))
  const readers = readersAmong(reachable.values())
  const common = onceAsked(() => inSlices(commonAmong([...reachable.values()])))
  const search = onceAsked(() => searcher([...reachable.values()]))
  return {
    read: jsonOf,
    listFor: async (actor, mayWrite) =>
      (await common())
        .filter(one => mayCall(actor, one.registered.operation))
        .filter(one => mayWrite || !isWriting(one.registered.operation))
        .map(one => (actor.type === 'agent' ? one.forAgents : one.forOthers)),
    named: name => mapped(named.get(name), targetOf),
    target: operation => mapped(reachable.get(operation), targetOf),
    signatureOf: operation => reachable.get(operation)?.operation.signature,
    mayCall: (actor, operation) => visible(reachable.get(operation), actor) !== undefined,
    search: (actor, words, most) =>
      search()(words)
        .filter(({ operation }) => mayCall(actor, operation))
        .slice(0, most)
        .map(targetOf),
    describe: (actor, operation) =>
      mapped(visible(reachable.get(operation), actor), registered =>
        describedTarget(registered, { isAgent: actor.type === 'agent', isShort: false }),
      ),
    async call(caller, operation, given, idempotencyKey) {
      const registered = reachable.get(operation)
      if (!registered) throw new Error(`no tool reaches ${operation}`)
      return callFor({ execute, onFailure: reports.onFailure }, caller, registered, given, idempotencyKey)
    },
    plan: (caller, operation, given) =>
      mapped(reachable.get(operation), registered => planOf(readers, caller, registered, given)),
    async readRecord(tenant, operation, given, requestId) {
      const registered = reachable.get(operation)
      return registered && readRecord(execute, registered, tenant, given, requestId)
    },
    reportFailure: reports.onFailure,
    reportCardNumber: reports.onCardNumber,
  }
}

const visible = (registered: Registered | undefined, actor: Actor): Registered | undefined =>
  registered && mayCall(actor, registered.operation) ? registered : undefined

const mapped = <T, R>(value: T | undefined, change: (value: T) => R): R | undefined =>
  value === undefined ? undefined : change(value)

const nameOf = (registered: Registered): [string, Registered][] => {
  const { tool } = registered.operation
  return tool ? [[tool.name, registered]] : []
}

function* commonAmong(all: readonly Registered[]): Sliced<Common[]> {
  const common: Common[] = []
  for (const registered of all) {
    common.push(...commonOf(registered))
    yield
  }
  return common
}

function commonOf(registered: Registered): Common[] {
  const { operation } = registered
  const { tool } = operation
  if (!tool?.isCommon) return []
  return [
    {
      registered,
      tool,
      forAgents: definitionOf(operation, tool, { isAgent: true, isShort: true }),
      forOthers: definitionOf(operation, tool, { isAgent: false, isShort: true }),
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
