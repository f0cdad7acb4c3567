import { type Html, type HtmlContent, html } from '../../web/html.ts'
import type { JsonSchema, ParameterObject } from '../openapi/types.ts'
import type { DocsBook } from './book.ts'
import { renderInlineMarkdown } from './markdown.ts'
import { describeChoices, describeConstraints, describeType } from './schema-words.ts'

export type MemberDirection = 'sent' | 'returned'

export function renderMembers(book: DocsBook, object: JsonSchema, direction: MemberDirection): Html {
  const { properties = {}, required = [] } = book.follow(object).schema
  const rows = Object.entries(properties).map(([name, schema]) =>
    member(book, { name, schema, required: required.includes(name), direction }),
  )
  return html`<ul class="members">${rows}</ul>`
}

export const renderParameters = (book: DocsBook, list: readonly ParameterObject[]): Html =>
  html`<ul class="members">${list.map(parameter => {
    const { name, required = false } = parameter
    return member(book, { name, schema: described(parameter), required, direction: 'sent' })
  })}</ul>`

/** A parameter keeps description and example beside its schema, and a member keeps them inside. */
const described = ({ schema, description, example }: ParameterObject): JsonSchema => ({
  ...schema,
  ...(description === undefined ? {} : { description }),
  ...(example === undefined ? {} : { examples: [example] }),
})

interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  readonly direction: MemberDirection
}

function member(book: DocsBook, { name, schema, required, direction }: Member): Html {
  const { schema: target, record } = book.follow(schema)
  const description = schema.description ?? target.description
  const limits =
    direction === 'sent' ? describeConstraints(target) : [describeChoices(target)].filter(Boolean)
  return html`<li>
    <p class="member"><code>${name}</code> <span class="type">${typeOf(book, target, record)}</span>${
      direction === 'sent' && required && html` <span class="required">required</span>`
    }</p>
    ${description && html`<p>${renderInlineMarkdown(description)}</p>`}
    ${limits.length > 0 && html`<p class="limits">${renderInlineMarkdown(limits.join(' · '))}</p>`}
    ${!record && inner(book, target, direction)}
  </li>`
}

function typeOf(book: DocsBook, schema: JsonSchema, record?: string): HtmlContent {
  if (record) return recordLink(book, record)
  const items = schema.items && book.follow(schema.items)
  if (items?.record) return html`array of ${recordLink(book, items.record)}`
  const options = schema.anyOf ?? schema.oneOf
  if (!options) return describeType(schema)
  return options.flatMap((option, index) => {
    const { schema: target, record: named } = book.follow(option)
    return [index > 0 && ' or ', typeOf(book, target, named)]
  })
}

export const recordLink = (book: DocsBook, record: string): Html =>
  html`<a href="${book.href(`record.${record}`)}">${record}</a>`

/** Shows the members of an object or of an array's items, unless they are a named record. */
function inner(book: DocsBook, schema: JsonSchema, direction: MemberDirection): HtmlContent {
  const options = [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return options.flatMap(option => {
    if (!option) return []
    const { schema: target, record } = book.follow(option)
    return target.properties && !record ? [renderMembers(book, target, direction)] : []
  })
}
