import { exampleOf } from '../openapi/example.ts'
import type { Book } from './book.ts'
import { type Html, html } from './html.ts'
import { markdown } from './markdown.ts'
import { members } from './members.ts'
import { json, panel } from './panel.ts'

/** A named record: its members, and one to look at. */
export function recordSection(book: Book, name: string): Html {
  const { schemas } = book.document.components
  const schema = schemas[name] ?? {}
  return html`
<section class="split record" id="record.${name}" aria-labelledby="record.${name}-title">
  <div class="text">
    <h3 id="record.${name}-title"><a href="#record.${name}">${name}</a> <small>record</small></h3>
    ${schema.description && markdown(schema.description)}
    ${members(book, schema, 'returned')}
  </div>
  <div class="code">${panel(name, json(exampleOf(schema, schemas)), 'json')}</div>
</section>`
}
