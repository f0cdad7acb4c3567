import { type Content, type Html, html } from '../../web/html.ts'
import type { JsonSchema, Parameter } from '../openapi/types.ts'
import type { Book } from './book.ts'
import { inline } from './markdown.ts'
import { choiceWords, constraintWords, typeWords } from './schema-words.ts'

export type Direction = 'sent' | 'returned'

export function members(book: Book, object: JsonSchema, direction: Direction): Html {
  const { properties = {}, required = [] } = book.follow(object).schema
  const rows = Object.entries(properties).map(([name, schema]) =>
    member(book, { name, schema, required: required.includes(name), direction }),
  )
  return html`<ul class="members">${rows}</ul>`
}

export const parameters = (book: Book, list: readonly Parameter[]): Html =>
  html`<ul class="members">${list.map(parameter => {
    const { name, required = false } = parameter
    return member(book, { name, schema: described(parameter), required, direction: 'sent' })
  })}</ul>`

/** A parameter keeps description and example beside its schema, and a member keeps them inside. */
const described = ({ schema, description, example }: Parameter): JsonSchema => ({
  ...schema,
  ...(description === undefined ? {} : { description }),
  ...(example === undefined ? {} : { examples: [example] }),
})

interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  readonly direction: Direction
}

function member(book: Book, { name, schema, required, direction }: Member): Html {
  const { schema: target, record } = book.follow(schema)
  const description = schema.description ?? target.description
  const limits = direction === 'sent' ? constraintWords(target) : [choiceWords(target)].filter(Boolean)
  return html`<li>
    <p class="member"><code>${name}</code> <span class="type">${typeOf(book, target, record)}</span>${
      direction === 'sent' && required && html` <span class="required">required</span>`
    }</p>
    ${description && html`<p>${inline(description)}</p>`}
    ${limits.length > 0 && html`<p class="limits">${inline(limits.join(' · '))}</p>`}
    ${!record && inner(book, target, direction)}
  </li>`
}

function typeOf(book: Book, schema: JsonSchema, record?: string): Content {
  if (record) return linkTo(book, record)
  const items = schema.items && book.follow(schema.items)
  if (items?.record) return html`array of ${linkTo(book, items.record)}`
  const options = schema.anyOf ?? schema.oneOf
  if (!options) return typeWords(schema)
  return options.flatMap((option, index) => {
    const { schema: target, record: named } = book.follow(option)
    return [index > 0 && ' or ', typeOf(book, target, named)]
  })
}

export const linkTo = (book: Book, record: string): Html =>
  html`<a href="${book.href(`record.${record}`)}">${record}</a>`

/** Shows the members of an object or of an array's items, unless they are a named record. */
function inner(book: Book, schema: JsonSchema, direction: Direction): Content {
  const options = [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return options.flatMap(option => {
    if (!option) return []
    const { schema: target, record } = book.follow(option)
    return target.properties && !record ? [members(book, target, direction)] : []
  })
}
