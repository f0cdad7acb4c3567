import { type Content, type Html, html } from '../../web/html.ts'
import type { OperationObject } from '../openapi/types.ts'
import { type Book, EVENTS } from './book.ts'
import type { EventEntry, EventGroup, Family } from './event-groups.ts'
import { eventsSent } from './events-sent.ts'
import { inline } from './markdown.ts'
import { members } from './members.ts'
import { panel } from './panel.ts'
import { asJson } from './print.ts'

/** The page of events: first how they arrive, then each event with its data. */
export function eventsChapter(book: Book, about: string): Html {
  const { webhooks } = book.document
  const { post: sample } = webhooks['agent.frozen'] ?? Object.values(webhooks)[0] ?? {}
  return html`
<section class="chapter" aria-labelledby="${EVENTS.id}">
<h1 id="${EVENTS.id}">${EVENTS.title}</h1>
<p class="about">${about}</p>
${sample && eventsSent(book, sample)}
${book.eventGroups.map(group => groupOf(book, group))}
</section>`
}

const groupOf = (book: Book, { id, title, families }: EventGroup): Html => html`
<section id="${id}" aria-labelledby="${id}-title">
${families.map((family, index) => familyOf(book, family, index === 0 && html`<h2 id="${id}-title"><a href="#${id}">${title}</a> <small>events</small></h2>`))}
</section>`

const familyOf = (book: Book, { events, data, message }: Family, title: Content): Html => html`
<div class="split">
  <div class="text">
    ${title}
    <dl class="events">${events.map(one => event(book, one))}</dl>
    <h3>Data</h3>
    ${members(book, data, 'returned')}
  </div>
  <div class="code">${panel(html`<code>${events[0]?.name}</code>`, asJson(message), 'json')}</div>
</div>`

const event = (book: Book, { name, id, post, causes }: EventEntry): Html => html`
<div id="${id}"><dt><a href="#${id}"><code>${name}</code></a></dt>
<dd>${inline(post.summary)} ${post['x-status'] ? html`<small>${inline(post.description)}</small>` : causesOf(book, causes)}</dd></div>`

/** How many event names are listed in full. */
const FEW = 3

function causesOf(book: Book, causes: readonly OperationObject[]): Content {
  if (causes.length === 0) return html`<small>By itself.</small>`
  const links = causes.map(
    ({ operationId, summary }) => html`<a href="${book.href(operationId)}">${summary}</a> `,
  )
  if (causes.length <= FEW) return html`<p class="causes">${links}</p>`
  return html`<details class="shared"><summary>After any of ${causes.length} operations</summary><p>${links}</p></details>`
}
