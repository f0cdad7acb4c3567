import type { JsonSchema, ParameterObject } from '../openapi/types.ts'
import type { DocsBook } from './book.ts'
import { bulletList, oneLine } from './pages.ts'
import { describeChoices, describeConstraints, describeType } from './schema-words.ts'

export type MemberDirection = 'sent' | 'returned'

export const memberList = (book: DocsBook, object: JsonSchema, direction: MemberDirection): string =>
  memberLines(book, object, direction).join('\n')

export const parameterList = (book: DocsBook, parameters: readonly ParameterObject[]): string => {
  const properties = parameters.map(parameter => [parameter.name, described(parameter)] as const)
  const required = parameters.filter(parameter => parameter.required).map(({ name }) => name)
  return memberList(book, { properties: Object.fromEntries(properties), required }, 'sent')
}

/** A parameter keeps description and example beside its schema, and a member keeps them inside. */
const described = ({ schema, description, example }: ParameterObject): JsonSchema => ({
  ...schema,
  ...(description === undefined ? {} : { description }),
  ...(example === undefined ? {} : { examples: [example] }),
})

/** Objects without a name are shown inside, and records on their own page. */
function memberLines(book: DocsBook, object: JsonSchema, direction: MemberDirection): string[] {
  const { properties = {}, required = [] } = book.follow(object).schema
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { schema: target, record } = book.follow(schema)
    const limits = direction === 'sent' ? describeConstraints(target) : [describeChoices(target)]
    const isRequired = direction === 'sent' && required.includes(name)
    const facts = [typeOf(book, target, record), isRequired && 'required', ...limits].filter(Boolean)
    const about = schema.description ?? target.description
    const line = `\`${name}\` *${facts.join(' · ')}*${about ? `: ${oneLine(about)}` : ''}`
    const inner = record ? [] : objectsIn(book, target).flatMap(one => memberLines(book, one, direction))
    return [bulletList([line]), ...inner.map(deeper => `  ${deeper}`)]
  })
}

function typeOf(book: DocsBook, schema: JsonSchema, record?: string): string {
  if (record) return recordLink(book, record)
  const items = schema.items && book.follow(schema.items)
  if (items?.record) return `array of ${recordLink(book, items.record)}`
  const options = (schema.anyOf ?? schema.oneOf)?.map(option => book.follow(option))
  return options
    ? options.map(option => typeOf(book, option.schema, option.record)).join(' or ')
    : describeType(schema)
}

export const recordLink = (book: DocsBook, record: string): string =>
  `[${record}](${book.href(`record.${record}`)})`

/** The object itself, or the items of an array or the options, unless they are a record. */
const objectsIn = (book: DocsBook, schema: JsonSchema): JsonSchema[] =>
  [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(option => {
    const { schema: target, record } = book.follow(option ?? {})
    return target.properties && !record ? [target] : []
  })
