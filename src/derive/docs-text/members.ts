import type { Book } from '../docs/book.ts'
import { constraintWords, typeWords } from '../docs/schema-words.ts'
import type { JsonSchema } from '../openapi/types.ts'

const DEEPEST = 4

/** The members of an object as a list, those of inner objects below them. */
export function memberList(book: Book, object: JsonSchema, isSent: boolean, level = 0): string[] {
  const { properties = {}, required = [] } = book.follow(object).schema
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { schema: target, record } = book.follow(schema)
    const facts = [
      record ?? typeText(book, target),
      ...(isSent && required.includes(name) ? ['required'] : []),
      ...(isSent ? constraintWords(target) : []),
    ]
    const description = schema.description ?? target.description
    const line = `${'  '.repeat(level)}- \`${name}\` (${facts.join('; ')})${description ? `: ${oneLine(description)}` : ''}`
    const inner = record || level >= DEEPEST ? [] : innerOf(target)
    return [line, ...inner.flatMap(one => memberList(book, one, isSent, level + 1))]
  })
}

function typeText(book: Book, schema: JsonSchema): string {
  const options = schema.anyOf ?? schema.oneOf
  if (options) return options.map(option => book.follow(option).record ?? typeWords(option)).join(' or ')
  const item = schema.items && book.follow(schema.items)
  return item?.record ? `array of ${item.record}` : typeWords(schema)
}

const innerOf = (schema: JsonSchema): JsonSchema[] =>
  [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(
    (one): one is JsonSchema => one?.properties !== undefined,
  )

export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim()
