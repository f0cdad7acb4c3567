import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { Context } from '../../kernel/contract/context.ts'
import { maskCardNumbersInResult } from './tool-call.ts'

interface Resource {
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly operation: string
  readonly for?: 'agent' | 'others'
}

const JSON_TYPE = 'application/json'
export const OPENAPI_RESOURCE_URI = 'agentpay://openapi'

const fixed: readonly Resource[] = [
  resource(
    'policy',
    'Policy',
    'Spending limits, allowed payees, and when approval is required.',
    'policies.effective',
    'agent',
  ),
  resource(
    'policy',
    'Policies',
    'Spending limits of agents, allowed payees, and when approval is required.',
    'policies.list',
    'others',
  ),
  resource('budgets', 'Budgets', 'What is left of each limit.', 'policies.usage'),
  resource('intents', 'Intents', 'Declared payments, newest first.', 'intents.list'),
  resource('statements', 'Statements', 'Monthly statements of each wallet.', 'statements.list', 'others'),
]

const templates: readonly Resource[] = [
  resource('intents/{id}', 'Intent', 'The current state of the intent.', 'intents.get'),
  resource(
    'intents/{id}/explanation',
    'Explanation',
    'The result of every rule, with remedies.',
    'intents.explanation',
  ),
  resource('policies/{id}', 'A policy', 'Its rules.', 'policies.get'),
]

function resource(
  path: string,
  title: string,
  description: string,
  operation: string,
  of?: 'agent' | 'others',
): Resource {
  return { uri: `agentpay://${path}`, name: path, title, description, operation, ...(of ? { for: of } : {}) }
}

const isFor = ({ actor, service }: Context, { operation, for: of }: Resource): boolean =>
  (of === undefined || (of === 'agent') === (actor.type === 'agent')) &&
  service.tools.mayCall(actor, operation)

const shown = ({ uri, name, title, description }: Resource) => ({
  uri,
  name,
  title,
  description,
  mimeType: JSON_TYPE,
})

export const listResources = (context: Context) => [
  ...fixed.filter(one => isFor(context, one)).map(shown),
  {
    uri: OPENAPI_RESOURCE_URI,
    name: 'openapi',
    title: 'The interface',
    description: 'As OpenAPI 3.1.',
    mimeType: JSON_TYPE,
  },
]

export const resourceTemplates = (context: Context) =>
  templates
    .filter(one => isFor(context, one))
    .map(one => shown(one))
    .map(({ uri, ...rest }) => ({ uriTemplate: uri, ...rest }))

export async function readResource(uri: string, context: Context) {
  if (uri === OPENAPI_RESOURCE_URI)
    return resourceContents(uri, String((await context.service.openapi()).content))
  const found = find(uri, context)
  if (!found) throw new ResourceNotFoundError(uri)
  const { body, refusal } = await context.service.tools.call(context, found.operation, found.given, null)
  if (refusal) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${refusal.code}: ${refusal.message}`)
  return resourceContents(uri, JSON.stringify(maskCardNumbersInResult(body as object, uri, context)))
}

export const resourceContents = (uri: string, text: string) => ({
  contents: [{ uri, mimeType: JSON_TYPE, text }],
})

function find(uri: string, context: Context) {
  const exact = fixed.find(one => one.uri === uri && isFor(context, one))
  if (exact) return { operation: exact.operation, given: {} }
  for (const one of templates) {
    const [start = '', end = ''] = one.uri.split('{id}')
    const id =
      uri.startsWith(start) && uri.endsWith(end) ? uri.slice(start.length, uri.length - end.length) : ''
    if (/^[\w.:@-]{1,128}$/.test(id) && isFor(context, one))
      return { operation: one.operation, given: { id } }
  }
  return undefined
}
