import { type Html, html } from '../../web/html.ts'
import { exampleOf, nameOf } from '../openapi/example.ts'
import { type Book, type Entry, jsonOf } from './book.ts'
import { markdown } from './markdown.ts'
import { members } from './members.ts'
import { panel } from './panel.ts'
import { asJson } from './print.ts'

/** A named record: its members, and one to look at. */
export function recordSection(book: Book, name: string): Html {
  const schema = book.document.components.schemas[name] ?? {}
  return html`
<section class="split record" id="record.${name}" aria-labelledby="record.${name}-title">
  <div class="text">
    <h2 id="record.${name}-title"><a href="#record.${name}">${name}</a> <small>record</small></h2>
    ${schema.description && markdown(schema.description)}
    ${members(book, schema, 'returned')}
  </div>
  <div class="code">${panel(name, asJson(exampleFor(book, name)), 'json')}</div>
</section>`
}

/** The example of a record as an operation returns it, by itself or in a page. */
function exampleFor(book: Book, name: string): unknown {
  const returned = book.entries.flatMap(entry => returnedBy(entry, name))
  const { schemas } = book.document.components
  return returned[0] ?? exampleOf(schemas[name] ?? {}, schemas)
}

function returnedBy({ success: [, response] }: Entry, name: string): unknown[] {
  const { schema, example } = jsonOf(response) ?? {}
  if (schema?.$ref && nameOf(schema.$ref) === name) return [example]
  const items = schema?.properties?.data?.items
  return items?.$ref && nameOf(items.$ref) === name ? (example as { data: unknown[] }).data : []
}
