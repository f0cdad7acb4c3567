import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ToolDefinition } from '../../kernel/contract/tool.ts'
import { MAX_WAIT_SECONDS, waitForIntent } from './intents.ts'
import { proposeFromTool, runToolTarget } from './run-operation.ts'
import { type ToolArguments, toolRefusal, toolSuccess } from './tool-call.ts'

interface OwnTool {
  readonly definition: ToolDefinition
  readonly scope?: string
  /** Agent tokens get the small set of tools; keys and people reach all their operations. */
  readonly isForAgents: boolean
  run(given: ToolArguments, context: Context): Promise<object>
}

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

const MOST_FOUND = 20

const wait: OwnTool = {
  scope: 'intents:read',
  isForAgents: true,
  definition: {
    name: 'wait_for_intent',
    title: 'Wait for the decision about an intent',
    description: `Use it after declare_intent if the intent waits for a person (status created). It answers once the intent is decided, or after the given seconds with the present state; then call it again. seconds: 0 returns the state at once.`,
    inputSchema: {
      type: 'object',
      properties: {
        intentId: { type: 'string' },
        seconds: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
          description: `Default: ${MAX_WAIT_SECONDS}.`,
        },
      },
      required: ['intentId'],
    },
    annotations: reading,
  },
  async run({ intentId, seconds = MAX_WAIT_SECONDS }, context) {
    if (typeof intentId !== 'string') return invalidMember('intentId', 'required, must be a string')
    const isTime = Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= MAX_WAIT_SECONDS
    if (!isTime) return invalidMember('seconds', `must be an integer from 0 to ${MAX_WAIT_SECONDS}`)
    return waitForIntent(intentId, Number(seconds), context)
  },
}

const search: OwnTool = {
  isForAgents: false,
  definition: {
    name: 'search_operations',
    title: 'Find operations by keywords',
    description:
      'Use it if no other tool fits: it finds operations that you may call. Then use describe_operation, then call_operation.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'A few words: refund a transfer' } },
      required: ['query'],
    },
    annotations: reading,
  },
  async run({ query }, { actor, service }) {
    if (typeof query !== 'string' || query.length > 500)
      return invalidMember('query', 'must be a string of at most 500 characters')
    return toolSuccess({ operations: service.tools.search(actor, query, MOST_FOUND) })
  },
}

const describe: OwnTool = {
  isForAgents: false,
  definition: {
    name: 'describe_operation',
    title: 'Describe an operation',
    description:
      'Returns the input schema, an example and the refusals of an operation found by search_operations.',
    inputSchema: {
      type: 'object',
      properties: { operation: { type: 'string', description: 'As found: policies.list' } },
      required: ['operation'],
    },
    annotations: reading,
  },
  async run({ operation }, { actor, service }) {
    const described = typeof operation === 'string' ? service.tools.describe(actor, operation) : undefined
    return described ? toolSuccess(described) : unknownOperation
  },
}

const call: OwnTool = {
  isForAgents: false,
  definition: {
    name: 'call_operation',
    title: 'Call any operation',
    description:
      'Calls the operation with the fields from describe_operation, with your rights. Changes become proposals, which a person applies, unless the key allows tools to write.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', description: 'As found: policies.list' },
        input: { type: 'object', description: 'The fields of path, query and body together.' },
      },
      required: ['operation'],
    },
    annotations: { ...reading, readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  async run({ operation, input = {} }, context) {
    const target = typeof operation === 'string' ? context.service.tools.target(operation) : undefined
    if (!target) return unknownOperation
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return invalidMember('input', 'must be an object')
    const given = input as ToolArguments
    return runToolTarget(
      target,
      { name: 'call_operation', given, canOpenUrls: false, responses: undefined },
      context,
    )
  },
}

const MAX_REASON = 1_000

const proposeChange: OwnTool = {
  scope: 'canvas:write',
  isForAgents: true,
  definition: {
    name: 'propose_change',
    title: 'Propose a change to a person',
    description:
      'Use it for changes that you may not make, such as a higher limit: a person reviews the proposal in the console and applies or dismisses it. operation is the name in the API, such as policies.toggle or wallets.create. Nothing changes before.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', description: 'As in the API: policies.replace' },
        input: { type: 'object', description: 'The fields of path, query and body together.' },
        reason: { type: 'string', description: 'The reason, for the person.' },
      },
      required: ['operation'],
    },
    annotations: { ...reading, readOnlyHint: false },
  },
  async run({ operation, input = {}, reason = null }, context) {
    if (typeof operation !== 'string' || operation.length > 100)
      return invalidMember('operation', 'required, must be a string')
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return invalidMember('input', 'must be an object')
    if (reason !== null && (typeof reason !== 'string' || reason.length > MAX_REASON))
      return invalidMember('reason', `must be a string of at most ${MAX_REASON} characters`)
    return proposeFromTool(
      { operation, given: input as ToolArguments, reason: reason as string | null },
      context,
    )
  },
}

const unknownOperation = toolRefusal(
  'unknown_operation',
  'operation: unknown, or you may not call it. search_operations finds the ones that you may call.',
)

const invalidMember = (member: string, message: string) =>
  toolRefusal('invalid_request', `${member}: ${message}.`)

const all: readonly OwnTool[] = [wait, proposeChange, search, describe, call]

export const mcpOnlyTools = (actor: Actor): readonly OwnTool[] => all.filter(tool => !refusalOf(tool, actor))

export const findMcpOnlyTool = (name: string): OwnTool | undefined => byName.get(name)

const byName = new Map(all.map(tool => [tool.definition.name, tool]))

export const runMcpOnlyTool = async (
  tool: OwnTool,
  given: ToolArguments,
  context: Context,
): Promise<object> =>
  refusalOf(tool, context.actor) ?? unknownMemberIn(given, tool) ?? tool.run(given, context)

/** An idempotency key that was ignored would let one payment be made twice. */
function unknownMemberIn(given: ToolArguments, { definition: { inputSchema } }: OwnTool): object | undefined {
  const known = Object(inputSchema.properties) as object
  const unknown = Object.keys(given).find(name => !Object.hasOwn(known, name))
  if (unknown === undefined) return undefined
  const remedy = 'input' in known ? '. The operation’s fields belong into input' : ''
  return invalidMember(unknown, `unknown member${remedy}`)
}

function refusalOf({ scope, isForAgents }: OwnTool, { type, scopes }: Actor): object | undefined {
  if (type === 'agent' && !isForAgents) return notForAgents
  return scope && !scopes.has(scope)
    ? toolRefusal('missing_scope', `The credential lacks the scope ${scope}.`)
    : undefined
}

const notForAgents = toolRefusal(
  'wrong_caller',
  'This tool needs an API key; you sent an agent token. tools/list shows the tools that you may call.',
)
