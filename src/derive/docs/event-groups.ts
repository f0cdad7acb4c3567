import type { JsonSchema, OpenapiDocument, OperationObject } from '../openapi/types.ts'

export interface EventEntry {
  readonly name: string
  readonly id: string
  readonly post: OperationObject
  readonly causes: readonly OperationObject[]
}

/** Events with the same form of data share a description, and an example of the first one. */
export interface EventFamily {
  readonly events: readonly EventEntry[]
  readonly data: JsonSchema
  readonly message: unknown
}

export interface EventGroup {
  readonly id: string
  readonly title: string
  readonly families: readonly EventFamily[]
}

export function groupDocumentedEvents({ webhooks, paths }: OpenapiDocument): EventGroup[] {
  const operations = Object.values(paths).flatMap(item => Object.values(item))
  const entries = Object.entries(webhooks).map(([name, { post }]) => ({
    name,
    id: post.operationId,
    post,
    causes: operations.filter(({ 'x-events': events = [] }) => events.includes(name)),
  }))
  return [...Map.groupBy(entries, ({ name }) => name.split('.')[0] ?? '')].map(([noun, events]) => ({
    id: `on.${noun}`,
    title: titleOf(noun),
    families: familiesOf(events),
  }))
}

export const eventsOfGroups = (groups: readonly EventGroup[]): EventEntry[] =>
  groups.flatMap(({ families }) => families.flatMap(({ events }) => events))

const ACRONYMS = ['mpp', 'sepa']

function titleOf(noun: string): string {
  if (ACRONYMS.includes(noun)) return noun.toUpperCase()
  const words = noun.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const familiesOf = (events: readonly EventEntry[]): EventFamily[] =>
  [...Map.groupBy(events, ({ post }) => JSON.stringify(dataOf(post))).values()].map(family => ({
    events: family,
    data: dataOf(family[0]?.post),
    message: sentBy(family[0]?.post)?.example,
  }))

const sentBy = (post?: OperationObject) => post?.requestBody?.content['application/json']

const dataOf = (post?: OperationObject): JsonSchema => sentBy(post)?.schema?.properties?.data ?? {}
